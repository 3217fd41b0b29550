import { readFileSync } from "node:fs";
import { readForeign, readUpTo } from "../../../src/state/bounded-read.ts";

// Reads what is too long, twice, and tells what that took: a file that says so, and standard input, which does not.

const [file = "", limit = "0"] = process.argv.slice(2);

/** Bytes that this process has read so far, as the kernel counts them. */
function bytesRead(): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1] ?? 0);
}

const before = bytesRead();
const found = readForeign(file, Number(limit));
const between = bytesRead();
const streamed = readUpTo(0, Number(limit));
const after = bytesRead();

process.stdout.write(
  JSON.stringify({
    refused: found !== null && "problem" in found && streamed === null,
    ofFile: between - before,
    ofStream: after - between,
  }),
);

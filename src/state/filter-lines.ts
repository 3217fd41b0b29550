import { open, rm } from "node:fs/promises";
import { READ_CHUNK_BYTES } from "../limits/index.ts";
import { linesOf, readAt } from "./chunks.ts";
import { openRegular } from "./open-regular.ts";

/** Writes those lines of a file that is not ours to a new file for which `isKept` is true. Half a line at its end is a line, too. */
export async function filterLines(source: string, target: string, isKept: (line: Buffer) => boolean): Promise<void> {
  await rm(target, { force: true });
  const [from, to] = [await openRegular(source), await open(target, "wx", 0o600)];
  try {
    const { size } = await from.stat();
    let at = 0;
    for await (const lines of linesOf(from, READ_CHUNK_BYTES, 0, size)) {
      at += lines.reduce((sum, line) => sum + line.length + 1, 0);
      const kept = lines.filter(isKept).flatMap((line) => [line, NEWLINE]);
      await to.appendFile(Buffer.concat(kept));
    }
    const rest = await readAt(from, at, size - at);
    if (isKept(rest)) await to.appendFile(rest);
    await to.datasync();
  } finally {
    await from.close();
    await to.close();
  }
}

const NEWLINE = Buffer.from("\n");

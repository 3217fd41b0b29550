import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { READ_CHUNK_BYTES } from "../../src/limits/index.ts";
import { parsedLinesOf } from "../../src/state/parsed-lines.ts";

let base: string;
let file: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "perdure-lines-"));
  file = join(base, "file");
});
afterEach(() => rmSync(base, { recursive: true }));

const whole = (line: string): string | null => (line === "" ? null : line);

test.each([
  ["empty", []],
  ["of one line", ["one"]],
  [
    "with lines and characters across its parts",
    ["ä", "x".repeat(READ_CHUNK_BYTES - 4), "öäü€".repeat(READ_CHUNK_BYTES)],
  ],
  ["with a line that ends with a part", ["x".repeat(READ_CHUNK_BYTES - 1), "y"]],
])("a file %s is read as its lines, with and without the last newline", async (_what, lines) => {
  for (const end of ["", "\n"]) {
    writeFileSync(file, lines.join("\n") + end);
    expect(await parsedLinesOf(file, 16 * READ_CHUNK_BYTES, whole)).toEqual(lines);
  }
});

test("a file with too many bytes, none, a folder and a fifo have no lines", async () => {
  writeFileSync(file, "four");
  expect(await parsedLinesOf(file, 4, whole)).toEqual(["four"]);
  expect(await parsedLinesOf(file, 3, whole)).toEqual([]);
  expect(await parsedLinesOf(join(base, "none"), 10, whole)).toEqual([]);
  expect(await parsedLinesOf(base, 10_000, whole)).toEqual([]);
  execFileSync("mkfifo", [join(base, "fifo")]);
  expect(await parsedLinesOf(join(base, "fifo"), 10, whole)).toEqual([]);
});

import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openIfReadable, readBounded, readForeign, readIfReadable, readUpTo } from "../../src/state/bounded-read.ts";
import { endTornLine, openRegular } from "../../src/state/open-regular.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "perdure-read-"));
});
afterEach(() => rmSync(base, { recursive: true }));

const at = (name: string): string => join(base, name);

test("a line that was cut off is ended, and a file whose last line is whole, or that is empty, stays as it is", async () => {
  writeFileSync(at("torn"), '{"a":1}\n{"b":');
  writeFileSync(at("whole"), '{"a":1}\n');
  writeFileSync(at("empty"), "");
  expect(await endTornLine(at("torn"))).toBe(true);
  for (const name of ["torn", "whole", "empty"]) expect(await endTornLine(at(name))).toBe(false);
  expect(readFileSync(at("torn"), "utf8")).toBe('{"a":1}\n{"b":\n');
  expect(readFileSync(at("whole"), "utf8")).toBe('{"a":1}\n');
  expect(readFileSync(at("empty"), "utf8")).toBe("");
  execFileSync("mkfifo", [at("fifo")]);
  await expect(endTornLine(at("fifo"))).rejects.toThrow("fifo");
});

test("a regular file is read whole, also by a link, an empty one and one of exactly as many bytes as allowed", () => {
  writeFileSync(at("file"), "zwölf Euro");
  symlinkSync("file", at("link"));
  writeFileSync(at("empty"), "");
  writeFileSync(at("long"), "x".repeat(200_000));
  expect(readBounded(at("file"), 11)).toBe("zwölf Euro");
  expect(readBounded(at("link"), 100)).toBe("zwölf Euro");
  expect(readBounded(at("empty"), 0)).toBe("");
  expect(readBounded(at("long"), 200_000)).toHaveLength(200_000);
});

test("one that does not exist is null: by its name, by a link, below a file", () => {
  writeFileSync(at("file"), "");
  symlinkSync("nowhere", at("dangling"));
  for (const name of ["none", "dangling", "file/below"]) expect(readBounded(at(name), 10)).toBeNull();
  expect(readIfReadable(at("none"), 10)).toBe("");
});

const IRREGULAR: [what: string, make: () => void, problem: RegExp][] = [
  ["a fifo without a writer", () => fifo("it"), /is not a regular file/],
  ["a link to a fifo", () => (fifo("fifo"), symlinkSync("fifo", at("it"))), /is not a regular file/],
  ["a link to a device without an end", () => symlinkSync("/dev/zero", at("it")), /is not a regular file/],
  ["a link to an empty device", () => symlinkSync("/dev/null", at("it")), /is not a regular file/],
  ["a link to the terminal", () => symlinkSync("/dev/tty", at("it")), /is not a regular file/],
  ["a folder", () => mkdirSync(at("it")), /cannot be read: it is a folder/],
  ["a link to a folder", () => symlinkSync(".", at("it")), /cannot be read: it is a folder/],
  ["a link to itself", () => symlinkSync("it", at("it")), /they lead in a circle/],
];

test.each(IRREGULAR)("%s is refused with a sentence, and not waited for", async (_what, make, problem) => {
  make();
  expect(readForeign(at("it"), 10)).toEqual({ problem: expect.stringMatching(problem) as string });
  expect(() => readBounded(at("it"), 10)).toThrow(
    expect.objectContaining({ code: "usage", message: expect.stringMatching(problem) as string }) as Error,
  );
  expect(readIfReadable(at("it"), 10)).toBe("");
  expect(openIfReadable(at("it"))).toBeNull();
  await expect(openRegular(at("it"))).rejects.toThrow(/is not a regular file|it is a folder|ELOOP/);
});

test("a file that is too large is not read, and its size is told in bytes", () => {
  writeFileSync(at("file"), "é".repeat(6));
  expect(() => readBounded(at("file"), 11)).toThrow(/file has 12 bytes; the limit is 11\.$/);
});

test("a file whose size says nothing is bounded by what is read", () => {
  expect(readForeign("/proc/self/status", 10)).toEqual({ problem: "has more than 10 bytes" });
  expect(readBounded("/proc/self/status", 100_000)).toMatch(/^Name:/);
});

test("a file that grows while it is read is bounded, too", () => {
  writeFileSync(at("file"), "");
  const fd = openSync(at("file"), "r");
  appendFileSync(at("file"), "x".repeat(100));
  expect(readUpTo(fd, 99)).toBeNull();
  closeSync(fd);
  const endless = openSync("/dev/zero", "r");
  expect(readUpTo(endless, 1_000_000)).toBeNull();
  closeSync(endless);
});

test("a regular file is opened to be read in parts", async () => {
  writeFileSync(at("file"), "text");
  const handle = await openRegular(at("file"));
  expect(await handle.readFile("utf8")).toBe("text");
  await handle.close();
  const fd = openIfReadable(at("file"));
  expect(readUpTo(fd as number, 10)).toBe("text");
  closeSync(fd as number);
  await expect(openRegular(at("none"))).rejects.toMatchObject({ code: "ENOENT" });
});

function fifo(name: string): void {
  execFileSync("mkfifo", [at(name)]);
}

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { appendTail, copyWhole, digestOfCopy, hashPrefix } from "../../../src/daemon/custody/copy.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "perdure-copy-"));
});
afterEach(() => rmSync(base, { recursive: true }));

test("a transcript is copied, also by a link, and its copy grows with it", async () => {
  const [file, link, target] = [join(base, "file"), join(base, "link"), join(base, "copies", "target")];
  writeFileSync(file, "one\n");
  symlinkSync("file", link);
  const copy = await copyWhole(link, target);
  expect(copy.bytes).toBe(4);
  writeFileSync(file, "one\ntwo\n");
  const grown = await appendTail(file, target, copy);
  expect(readFileSync(target, "utf8")).toBe("one\ntwo\n");
  const whole = await hashPrefix(file, 8);
  expect(grown && digestOfCopy(grown)).toBe(whole && digestOfCopy(whole));
});

test("a transcript that became a fifo since it was looked at is refused, not waited for", async () => {
  const [fifo, file, target] = [join(base, "fifo"), join(base, "file"), join(base, "target")];
  execFileSync("mkfifo", [fifo]);
  writeFileSync(file, "one\n");
  const copy = await copyWhole(file, target);
  const refused = { code: "refused", message: `${fifo} is not a regular file.` };
  await expect(copyWhole(fifo, target)).rejects.toMatchObject(refused);
  await expect(appendTail(fifo, target, copy)).rejects.toMatchObject(refused);
  await expect(hashPrefix(fifo, 4)).rejects.toMatchObject(refused);
  expect(readFileSync(target, "utf8")).toBe("one\n");
});

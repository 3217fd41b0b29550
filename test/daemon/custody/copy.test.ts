import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { appendTail, copyWhole, hashPrefix } from "../../../src/daemon/custody/copy.ts";
import { CUSTODY_CHUNK_BYTES } from "../../../src/limits/index.ts";

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), "perdure-copy-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

test("what grows is appended; a source that is cut off and grows again while it is read is not", async () => {
  const dir = folder();
  const [source, target] = [join(dir, "transcript"), join(dir, "copy")];
  const long = "b".repeat(16 * CUSTODY_CHUNK_BYTES);
  writeFileSync(source, "one\ntwo\n");
  const copy = await copyWhole(source, target);
  writeFileSync(source, `one\ntwo\n${long}`);
  const appending = appendTail(source, target, copy);
  while (statSync(target).size <= copy.bytes) await turnOfTheLoop();
  truncateSync(source, 4);
  writeFileSync(source, `one\nother\n${long}`);
  expect(await appending).toBeNull();
  // What is on record of the copy is as it was.
  expect(readFileSync(target, "utf8").slice(0, copy.bytes)).toBe("one\ntwo\n");
  expect((await hashPrefix(target, copy.bytes))?.bytes).toBe(copy.bytes);

  writeFileSync(source, "one\ntwo\nthree\n");
  expect((await appendTail(source, target, copy))?.bytes).toBe(14);
  expect(readFileSync(target, "utf8")).toBe("one\ntwo\nthree\n");
});

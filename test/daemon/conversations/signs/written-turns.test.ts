import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WrittenTurns } from "../../../../src/daemon/conversations/signs/written-turns.ts";
import { TURN_READ_BYTES } from "../../../../src/limits/index.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "perdure-turns-"));
  file = join(folder, "rollout.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true }));

function turns(sinceMs = 100): WrittenTurns {
  return new WrittenTurns(({ at, busy }) => {
    return typeof at === "number" ? { atMs: at, outward: { activity: busy === true ? "busy" : "idle" } } : null;
  }, sinceMs);
}

function write(...lines: object[]): void {
  appendFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

test("C1: a turn that an earlier run was killed in is history", () => {
  write({ at: 50, busy: true });
  expect(turns().poll(file)).toEqual([]);
});

test("C1: a turn between two polls is told as both, once", () => {
  const watch = turns();
  expect(watch.poll(file)).toEqual([]);
  write({ at: 110, busy: true }, { at: 120 });
  expect(watch.poll(file)).toEqual([{ activity: "busy" }, { activity: "idle" }]);
  write({ other: 1 });
  expect(watch.poll(file)).toEqual([]);
  write({ at: 130, busy: true });
  expect(watch.poll(file)).toEqual([{ activity: "busy" }]);
});

test("only the end of a long transcript is read, and half a line is none", () => {
  write({ at: 110, busy: true }, { text: "x".repeat(TURN_READ_BYTES) });
  const watch = turns();
  expect(watch.poll(file)).toEqual([]);
  appendFileSync(file, '{"at": 12');
  expect(watch.poll(file)).toEqual([]);
  appendFileSync(file, "0}\n");
  expect(watch.poll(file)).toEqual([{ activity: "idle" }]);
});

test("what was read is not read again", () => {
  let parsed = 0;
  const watch = new WrittenTurns(() => {
    parsed++;
    return null;
  }, 100);
  write(...Array.from({ length: 100 }, (_, at) => ({ at, text: "zwölf" })));
  watch.poll(file);
  expect(parsed).toBe(100);
  for (let n = 0; n < 20; n++) {
    write({ at: n, text: "zwölf" });
    watch.poll(file);
  }
  expect(parsed).toBe(120);
  appendFileSync(file, '{"at": ');
  watch.poll(file);
  appendFileSync(file, '1}\n{"at": 2}\n');
  watch.poll(file);
  expect(parsed).toBe(122);
});

test.each([
  [
    "by another file in its place",
    (text: string) => (writeFileSync(`${file}.new`, text), renameSync(`${file}.new`, file)),
  ],
  ["in place", (text: string) => writeFileSync(file, text)],
])("a transcript that was written anew %s is read from the beginning, shorter or longer", (_how, rewrite) => {
  const watch = turns();
  write({ at: 110, busy: true }, { text: "some more" });
  expect(watch.poll(file)).toEqual([{ activity: "busy" }]);
  rewrite('{"at":120}\n');
  expect(watch.poll(file)).toEqual([{ activity: "idle" }]);
  rewrite('{"at":130,"busy":true}\n{"at":140}\n');
  expect(watch.poll(file)).toEqual([{ activity: "busy" }, { activity: "idle" }]);
});

test("another transcript is read from its own beginning", () => {
  const watch = turns();
  write({ at: 110, busy: true }, { text: "some more" });
  watch.poll(file);
  const other = join(folder, "other.jsonl");
  writeFileSync(other, `{"at":120}\n{"text":"${"x".repeat(200)}"}\n`);
  expect(watch.poll(other)).toEqual([{ activity: "idle" }]);
});

test("a transcript is known to be unchanged from a poll until it grows, is written anew or goes", () => {
  const watch = turns();
  expect(watch.isUnchanged(file)).toBe(false);
  write({ at: 110, busy: true });
  expect(watch.isUnchanged(file)).toBe(false);
  watch.poll(file);
  expect(watch.isUnchanged(file)).toBe(true);
  write({ at: 120 });
  expect(watch.isUnchanged(file)).toBe(false);
  watch.poll(file);
  expect(watch.isUnchanged(file)).toBe(true);
  rmSync(file);
  expect(watch.isUnchanged(file)).toBe(false);
});

test("C1: a turn of this run counts although the clock was set back since its start", () => {
  write({ at: 50, busy: true });
  const watch = turns(100);
  expect(watch.poll(file)).toEqual([]);
  write({ at: 60, busy: true }, { at: 61 });
  expect(watch.poll(file)).toEqual([{ activity: "busy" }, { activity: "idle" }]);
});

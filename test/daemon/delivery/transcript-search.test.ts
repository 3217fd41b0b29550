import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { TranscriptSearch } from "../../../src/daemon/delivery/transcript-search.ts";

const MARK = "m-0123456789abcdef";
const PIECES = [{ mark: MARK, ids: ["a"], onlyAnnounced: {}, transcriptBytes: 0 }];

function file(text: string): string {
  const dir = mkdtempSync(join(tmpdir(), "perdure-test-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, "t"), text);
  return join(dir, "t");
}

test("a mark that is written in two parts is found", () => {
  const search = new TranscriptSearch();
  const path = file(`x ${MARK.slice(0, 5)}`);
  expect(search.find(path, PIECES).size).toBe(0);
  appendFileSync(path, MARK.slice(5));
  expect([...search.find(path, PIECES)]).toEqual([MARK]);
});

test("a line that only repeats a hook does not show a mark; the one behind it does, once it is whole", () => {
  const search = new TranscriptSearch((line) => (line.startsWith("hook") ? "" : line));
  const path = file(`hook ${MARK}\nho`);
  expect(search.find(path, PIECES).size).toBe(0);
  appendFileSync(path, `ok ${MARK}\nuser says ${MARK}`);
  expect(search.find(path, PIECES).size).toBe(0);
  appendFileSync(path, " and more\n");
  expect([...search.find(path, PIECES)]).toEqual([MARK]);
});

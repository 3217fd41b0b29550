import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { droppedFiles, SettledFiles, type DroppedFile } from "../../../../src/daemon/mail/drop/look.ts";
import { DROP_OPEN_MS, DROP_SETTLE_MS } from "../../../../src/limits/index.ts";
import type { Project } from "../../../../src/store/projects.ts";

let folder: string;
let now: number;
let settled: SettledFiles;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "perdure-drops-"));
  mkdirSync(join(folder, "to_coder"));
  now = 0;
  settled = new SettledFiles(() => now);
});
afterEach(() => rmSync(folder, { recursive: true }));

function files(): DroppedFile[] {
  return droppedFiles({ project: {} as Project, folder });
}

function ready(open: string[] = []): string[] {
  return settled.among(files(), (paths) => paths.filter((path) => open.includes(path))).map(({ name }) => name);
}

function write(name: string, text: string): string {
  const path = join(folder, "to_coder", name);
  writeFileSync(path, text);
  return path;
}

test("a file is ready when it has not changed for a while, in the order of the names", () => {
  const path = write("b", "one");
  write("a", "two");
  expect(ready()).toEqual([]);
  now += DROP_SETTLE_MS - 1;
  expect(ready()).toEqual([]);
  appendFileSync(path, "more");
  now += 1;
  expect(ready()).toEqual(["a"]);
  now += DROP_SETTLE_MS;
  expect(ready()).toEqual(["a", "b"]);
});

test("one that a process has open is waited for, and so is an empty one, but not for ever", () => {
  const path = write("open", "half");
  write("empty", "");
  ready();
  now += DROP_OPEN_MS - 1;
  expect(ready([path])).toEqual([]);
  now += 1;
  expect(ready([path])).toEqual(["empty", "open"]);
});

test("one that could not be taken rests", () => {
  const path = write("full", "text");
  ready();
  now += DROP_SETTLE_MS;
  expect(ready()).toEqual(["full"]);
  settled.restart(path, 5_000);
  now += 5_000;
  expect(ready()).toEqual([]);
  now += DROP_SETTLE_MS;
  expect(ready()).toEqual(["full"]);
});

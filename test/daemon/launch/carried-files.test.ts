import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { copyWithFirstLine } from "../../../src/daemon/launch/carried-files.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "perdure-carried-"));
  writeFileSync(join(base, "source"), "old\nrest\n");
});
afterEach(() => rmSync(base, { recursive: true }));

async function carry(): Promise<string> {
  const [source, target] = [join(base, "source"), join(base, "target")];
  await copyWithFirstLine({ source, target, skipped: "old", firstLine: "new" });
  return readFileSync(target, "utf8");
}

test("a copy is not written through a link that has its temporary name", async () => {
  const victim = join(base, "victim");
  writeFileSync(victim, "mine");
  symlinkSync(victim, join(base, ".target.perdure"));
  expect(await carry()).toBe("new\nrest\n");
  expect(readFileSync(victim, "utf8")).toBe("mine");
});

test("a copy does not wait at a fifo that has its temporary name", async () => {
  execFileSync("mkfifo", [join(base, ".target.perdure")]);
  expect(await carry()).toBe("new\nrest\n");
});

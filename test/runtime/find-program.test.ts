import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findProgram } from "../../src/runtime/find-program.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "perdure-program-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("a program is found as a shell finds it", () => {
  const program = join(folder, "tool");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o700 });
  writeFileSync(join(folder, "text"), "", { mode: 0o600 });
  expect(findProgram("tool", `/nowhere:${folder}`, "/")).toEqual({ file: program });
  expect(findProgram("./tool", "/bin", folder)).toEqual({ file: program });
  expect(findProgram("tool", ":/bin", folder)).toEqual({ file: program });
  expect(findProgram("tool", "/nowhere", "/")).toEqual({ missing: "tool is not on PATH" });
  expect(findProgram("./text", "/bin", folder)).toEqual({ missing: `${join(folder, "text")} is not executable` });
  expect(findProgram(".", "/bin", folder)).toEqual({ missing: ". is not on PATH" });
  expect(findProgram("", "/bin", folder)).toMatchObject({ missing: expect.stringContaining("empty") as string });
});

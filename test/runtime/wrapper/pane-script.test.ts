import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { paneScript } from "../../../src/runtime/wrapper/pane-script.ts";
import { detectWrapperForm } from "../../../src/runtime/wrapper/script.ts";

const dir = mkdtempSync(join(tmpdir(), "perdure-script-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const dump = "process.stdout.write(JSON.stringify([process.env.A, process.env.TERM, process.argv.slice(1)]))";
const inherited = { ignored: [], openFiles: null };

function started(environment: Record<string, string>, words: string[]): unknown {
  const file = join(dir, "start");
  const command = [process.execPath, "-e", dump, "--", ...words];
  const start = {
    form: detectWrapperForm(),
    runDir: dir,
    command,
    environment,
    inherited,
    loaderSwallowsSignals: false,
  };
  writeFileSync(file, paneScript(file, start), { mode: 0o600 });
  const said = execFileSync("/bin/sh", [file], { env: { PATH: "/usr/bin:/bin", TERM: "tmux" }, encoding: "utf8" });
  expect(readFileSync(file, "utf8")).toBe("");
  return JSON.parse(said);
}

it("words and values arrive as they are, and the file is empty once it was read", () => {
  const text = fc
    .string({ unit: "binary", maxLength: 30 })
    .filter((each) => !each.includes("\0") && each.isWellFormed());
  fc.assert(
    fc.property(text, fc.array(text, { maxLength: 3 }), (value, words) => {
      expect(started({ A: value }, words)).toEqual([value, "tmux", words]);
    }),
    { numRuns: 25 },
  );
});

it("a long script works too, which the shell reads piece by piece", () => {
  const value = "x'y\n".repeat(30_000);
  expect(started({ A: value, "B.C": "not a shell's", TERM: "the terminal's, not ours" }, ["end"])).toEqual([
    value,
    "tmux",
    ["end"],
  ]);
});

it("A2: a pane's wrapper waits for no verdict, because nobody reads its exit code", () => {
  const start = { form: detectWrapperForm(), runDir: dir, command: ["/bin/true"], environment: {}, inherited };
  expect(paneScript(join(dir, "start"), { ...start, loaderSwallowsSignals: false })).not.toContain("verdict");
});

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { linkTitle, paneScript } from "../../../src/runtime/wrapper/pane-script.ts";
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
    name: "coder",
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
  const start = {
    form: detectWrapperForm(),
    runDir: dir,
    name: "w",
    command: ["/bin/true"],
    environment: {},
    inherited,
  };
  expect(paneScript(join(dir, "start"), { ...start, loaderSwallowsSignals: false })).not.toContain("verdict");
});

it.each(["env", "bash", "plain"] as const)(
  "ps shows the worker's name, and the program gets the PATH that it is meant to have (%s)",
  async (form) => {
    const runDir = mkdtempSync(join(dir, "run "));
    linkTitle({ form, runDir, name: "coder-1" });
    const file = join(runDir, "start");
    const command = ["/bin/sh", "-c", 'printf "%s|%s\\n" "$PATH" "${perdure_path-unset}"; read -r line'];
    const environment = { PATH: "/opt/mine:/usr/bin:/bin" };
    const start = { form, runDir, name: "coder-1", command, environment, inherited, loaderSwallowsSignals: false };
    writeFileSync(file, paneScript(file, start), { mode: 0o600 });
    const child = spawn("/bin/sh", [file], { env: { PATH: "/usr/bin:/bin" }, stdio: ["pipe", "pipe", "inherit"] });
    const [said] = (await once(child.stdout, "data")) as [Buffer];
    expect(said.toString()).toBe("/opt/mine:/usr/bin:/bin|unset\n");
    const shown = execFileSync("ps", ["-o", "args=", "-p", String(child.pid)], { encoding: "utf8" });
    expect(shown).toMatch(/^perdure-run coder-1 /);
    child.stdin.end("\n");
    await once(child, "exit");
    expect(readFileSync(join(runDir, "exit"), "utf8")).toBe("0\n");
  },
);

it("a worker whose run folder has lost the link starts all the same", () => {
  expect(started({ A: "x" }, ["y"])).toEqual(["x", "tmux", ["y"]]);
});

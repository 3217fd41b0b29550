import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BIN, Home } from "../../support/home.ts";

let home: Home;
beforeEach(() => {
  home = new Home();
  mkdirSync(join(home.dir, "bin"));
  // Shells that are called like agents: what counts is the program's name in the process tree.
  for (const agent of ["claude", "codex", "gemini"]) copyFileSync("/bin/bash", join(home.dir, "bin", agent));
  // A loader: a script of the vendor's name, run by an interpreter, that starts the real thing below it.
  const loader = `require("child_process").spawnSync("/bin/sh", ["-c", "exec " + process.argv[3].replace(/; true$/, "")], { stdio: "inherit" });`;
  writeFileSync(join(home.dir, "bin", "gemini.js"), loader);
});
afterEach(() => home.clear());

interface Who {
  name: string;
  source: string;
  durable: boolean;
  supervisor: string | null;
  run: string | null;
}

/** `whoami` at the bottom of a chain of programs below a shell, the first agent of them the worker's own. */
async function whoBelow(...chain: string[]): Promise<Who> {
  const bin = (name: string): string => join(home.dir, "bin", name);
  const agent = (name: string): string =>
    name === "sh" ? "/bin/sh" : name.endsWith(".js") ? `${process.execPath} ${bin(name)}` : bin(name);
  // `; true` keeps each shell in place instead of letting it become the next one.
  const script = chain.reduceRight(
    (inner, name) => `${agent(name)} -c ${quote(`${inner}; true`)}`,
    `${BIN} whoami --json`,
  );
  const { stdout } = await home.perdure(["run", "coder", "--", "/bin/sh", "-c", `${script}; true`]);
  return JSON.parse(stdout) as Who;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

describe("an agent below a worker", () => {
  it.each([[["claude"]], [["sh", "claude"]], [["claude", "sh", "sh"]], [["sh"]], [["gemini.js", "gemini"]]])(
    "%j is the worker itself",
    async (chain) => {
      expect(await whoBelow(...chain)).toMatchObject({ name: "coder", source: "environment", supervisor: null });
    },
  );

  it.each([
    [["claude", "sh", "codex"]],
    [["claude", "sh", "claude"]],
    [["claude", "claude"]],
    [["gemini.js", "gemini", "gemini"]],
    [["sh", "claude", "codex", "sh"]],
  ])("%j is a nested agent: an alias with the worker as its supervisor", async (chain) => {
    const who = await whoBelow(...chain);
    expect(who).toMatchObject({ source: "nested", durable: false, supervisor: "api/coder", run: null });
    expect(who.name).toMatch(/^coder~/);
  });
});

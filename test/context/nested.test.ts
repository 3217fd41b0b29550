import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BIN, Home } from "../support/home.ts";

let home: Home;
beforeEach(() => {
  home = new Home();
  mkdirSync(join(home.dir, "bin"));
  // Shells that are called like agents: what counts is the program's name in the process tree.
  for (const agent of ["claude", "codex"]) copyFileSync("/bin/bash", join(home.dir, "bin", agent));
});
afterEach(() => home.clear());

interface Who {
  name: string;
  source: string;
  durable: boolean;
  supervisor: string | null;
  run: string | null;
}

/** `whoami` at the bottom of a chain of programs, the first of them the worker's own. */
async function whoBelow(...chain: string[]): Promise<Who> {
  const agent = (name: string): string => (name === "sh" ? "/bin/sh" : join(home.dir, "bin", name));
  // `; true` keeps each shell in place instead of letting it become the next one.
  const script = chain
    .slice(1)
    .reduceRight((inner, name) => `${agent(name)} -c ${quote(`${inner}; true`)}`, `${BIN} whoami --json`);
  const { stdout } = await home.perdure(["run", "coder", "--", agent(chain[0] ?? "sh"), "-c", `${script}; true`]);
  return JSON.parse(stdout) as Who;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

describe("an agent below a worker", () => {
  it.each([[["claude"]], [["sh", "claude"]], [["claude", "sh", "sh"]], [["sh"]], [["claude", "claude"]]])(
    "%j is the worker itself",
    async (chain) => {
      expect(await whoBelow(...chain)).toMatchObject({ name: "coder", source: "environment", supervisor: null });
    },
  );

  it.each([[["claude", "sh", "codex"]], [["claude", "sh", "claude"]], [["sh", "claude", "codex", "sh"]]])(
    "%j is a nested agent: an alias with the worker as its supervisor",
    async (chain) => {
      const who = await whoBelow(...chain);
      expect(who).toMatchObject({ source: "nested", durable: false, supervisor: "api/coder", run: null });
      expect(who.name).toMatch(/^coder~/);
    },
  );
});

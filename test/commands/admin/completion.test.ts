import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BIN, finish, Home } from "../../support/home.ts";

let home: Home;
let env: Record<string, string>;
beforeEach(async () => {
  home = new Home();
  mkdirSync(join(home.dir, "bin"));
  symlinkSync(BIN, join(home.dir, "bin", "perdure"));
  env = { ...home.env, PATH: `${join(home.dir, "bin")}:${home.env.PATH}` };
  await home.perdure(["run", "coder", "--", "true"]);
  await home.perdure(["run", "planner", "--", "true"]);
});
afterEach(() => home.clear());

/** Asks the real shell what it would offer for these words, the last one being typed. */
const SHELLS: Record<string, (words: string[]) => [file: string, args: string[]]> = {
  bash: (words) => [
    "bash",
    [
      "--norc",
      "-c",
      `source <(perdure completion bash); COMP_WORDS=(${quoted(words)}); COMP_CWORD=$((\${#COMP_WORDS[@]}-1)); _perdure; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ],
  ],
  zsh: (words) => [
    "zsh",
    [
      "-f",
      "-c",
      `compdef() { :; }; compadd() { print -l -- "\${candidates[@]}" }; source <(perdure completion zsh); words=(${quoted(words)}); CURRENT=\${#words}; _perdure`,
    ],
  ],
  fish: (words) => [
    "fish",
    ["--no-config", "-c", `perdure completion fish | source; complete -C '${words.join(" ")}'`],
  ],
};

function quoted(words: string[]): string {
  return words.map((word) => `'${word}'`).join(" ");
}

async function offers(shell: string, words: string[]): Promise<string[]> {
  const [file, args] = SHELLS[shell]?.(words) ?? ["false", []];
  const { stdout, stderr } = await finish(
    spawn(file, args, { cwd: home.project, env, stdio: ["ignore", "pipe", "pipe"] }),
  );
  expect(stderr).toBe("");
  return stdout.split("\n").filter(Boolean).toSorted();
}

describe.each(Object.keys(SHELLS))("completions in %s", (shell) => {
  it("offer verbs, workers' names, words of a verb, and options", async () => {
    expect(await offers(shell, ["perdure", "his"])).toEqual(["history"]);
    expect(await offers(shell, ["perdure", "show", ""])).toEqual(["coder", "planner"]);
    expect(await offers(shell, ["perdure", "show", "co"])).toEqual(["coder"]);
    expect(await offers(shell, ["perdure", "context", "re"])).toEqual(["recover"]);
    expect(await offers(shell, ["perdure", "ls", "--a"])).toEqual(["--all"]);
  });
});

it("completing starts no daemon", async () => {
  await home.perdure(["daemon", "stop"]);
  expect(await offers("bash", ["perdure", "show", ""])).toEqual([]);
  expect(home.daemonPid()).toBeNull();
});

import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BIN, finish, Home } from "../../support/home.ts";
import { personaInstaller } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();

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
  // fish shows what a word means behind a tab.
  return stdout
    .split("\n")
    .map((line) => line.split("\t")[0] ?? "")
    .filter(Boolean)
    .toSorted();
}

describe.each(Object.keys(SHELLS))("completions in %s", (shell) => {
  it("offer verbs, workers' names, words of a verb, and options", async () => {
    expect(await offers(shell, ["perdure", "his"])).toEqual(["history"]);
    expect(await offers(shell, ["perdure", "show", ""])).toEqual(["coder", "planner"]);
    expect(await offers(shell, ["perdure", "show", "co"])).toEqual(["coder"]);
    expect(await offers(shell, ["perdure", "context", "re"])).toEqual(["recover"]);
    expect(await offers(shell, ["perdure", "ls", "--a"])).toEqual(["--all"]);
    expect(await offers(shell, ["perdure", "ls", "--json", "--a"])).toEqual(["--all"]);
    expect(await offers(shell, ["perdure", "help", "up"])).toEqual(["up", "upgrade"]);
  });

  it("offer what the value of an option is, and arguments behind it", async () => {
    expect(await offers(shell, ["perdure", "run", "--vendor", "cod"])).toEqual(["codex"]);
    expect(await offers(shell, ["perdure", "run", "--vendor", "codex", "pl"])).toEqual(["planner"]);
    expect(await offers(shell, ["perdure", "mail", "--state", "dead,ex"])).toEqual(["dead,expired"]);
  });

  it("offer a name of perdure.toml, whoever else gets mail, and each name once", async () => {
    writeFileSync(join(home.project, "perdure.toml"), '[workers.tester]\ncommand = ["true"]\n');
    expect(await offers(shell, ["perdure", "up", ""])).toEqual(["coder", "planner", "tester"]);
    expect(await offers(shell, ["perdure", "up", "coder", ""])).toEqual(["planner", "tester"]);
    expect(await offers(shell, ["perdure", "send", "op"])).toEqual(["operator"]);
    expect(await offers(shell, ["perdure", "rename", "coder", ""])).toEqual([]);
  });

  it("never offer files where a name is wanted, and offer them where a file is", async () => {
    writeFileSync(join(home.project, "show-me.txt"), "");
    mkdirSync(join(home.project, "show-folder"));
    expect(await offers(shell, ["perdure", "show", "show-"])).toEqual([]);
    expect(await offers(shell, ["perdure", "send", "coder", "show-"])).toEqual([]);
    if (shell === "zsh") return; // its own completer of files needs a terminal; the next test has what it is told
    const files = await offers(shell, ["perdure", "send", "coder", "--file", "show-"]);
    expect(files.map((file) => file.replace(/\/$/, ""))).toEqual(["show-folder", "show-me.txt"]);
    const folders = await offers(shell, ["perdure", "adopt", "coder", "--cwd", "show-"]);
    expect(folders.map((file) => file.replace(/\/$/, ""))).toEqual(["show-folder"]);
    expect(await offers(shell, ["perdure", "run", "coder", "--", "tru"])).toContain("true");
  });
});

it("bash parts an option from its value at the sign between them", async () => {
  expect(await offers("bash", ["perdure", "run", "--vendor", "=", "cod"])).toEqual(["codex"]);
  expect(await offers("bash", ["perdure", "run", "--vendor", "="])).toContain("codex");
  expect(await offers("fish", ["perdure", "run", "--vendor=cod"])).toEqual(["--vendor=codex"]);
});

it.each([
  [["send", "coder", "--file", ""], ":files"],
  [["backup", ""], ":files"],
  [["adopt", "coder", "--cwd", ""], ":folders"],
  [["run", "coder", "--", ""], ":commands"],
  [["run", "coder", "--", "make", ""], ":files"],
  [["context", "log", "--", ""], ""],
  [["no-such-verb", ""], ""],
])("a shell that completes %j is told %j", async (words, told) => {
  expect((await home.perdure(["__complete", ...words])).stdout.trim()).toBe(told);
});

it("what a word means stands behind a tab", async () => {
  const { stdout } = await home.perdure(["__complete", "logs", "--f"]);
  expect(stdout).toBe("--follow\tgo on printing what comes, until Ctrl-C\n");
});

it("a saved session is offered where one is wanted", async () => {
  const persona = installPersona("scripted");
  await persona.begin("coder");
  await persona.untilProved("coder");
  await persona.home.perdure(["save", "friday", "--follow"]);
  for (const words of [
    ["up", "--session", ""],
    ["up", "--resume=fr"],
    ["forget", ""],
    ["save", ""],
  ]) {
    const { stdout } = await persona.home.perdure(["__complete", ...words]);
    expect(stdout).toMatch(/^(--resume=)?friday\tactive\n$/);
  }
});

it("completing starts no daemon", async () => {
  await home.perdure(["daemon", "stop"]);
  expect(await offers("bash", ["perdure", "show", ""])).toEqual([]);
  expect(home.daemonPid()).toBeNull();
});

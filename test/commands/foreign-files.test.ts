import { execFileSync, type SpawnOptions } from "node:child_process";
import { mkdirSync, openSync, closeSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Home, type Finished } from "../support/home.ts";
import { personaInstaller } from "../support/persona-installer.ts";

// A repository may carry links to anything. Each command has a deadline: one that waits for a fifo is killed, and has no code.

const DEADLINE: SpawnOptions = { timeout: 15_000, killSignal: "SIGKILL" };

let home: Home;
const within = (args: string[], options: SpawnOptions = {}): Promise<Finished> =>
  home.perdure(args, { ...DEADLINE, ...options });
const fifo = (file: string): void => void execFileSync("mkfifo", [file]);

const installPersona = personaInstaller();

describe("B2: a project", () => {
  let config: string;
  let other: string;

  beforeEach(async () => {
    home = new Home();
    config = join(home.project, "perdure.toml");
    other = join(home.dir, "web");
    mkdirSync(other);
    await home.perdure(["run", "coder", "--", "true"]);
    await home.perdure(["run", "tester", "--", "true"], { cwd: other });
  });
  afterEach(async () => {
    rmSync(config, { force: true });
    await home.clear();
  });

  test.each(["a fifo", "/dev/zero", "itself"])("whose perdure.toml is a link to %s hangs nobody", async (target) => {
    if (target === "a fifo") fifo(join(home.dir, "fifo"));
    symlinkSync({ "a fifo": "../fifo", itself: "perdure.toml" }[target] ?? target, config);
    const problem =
      target === "itself" ? /perdure\.toml cannot be read: too many links/ : /perdure\.toml is not a regular/;

    for (const args of [["ls"], ["send", "coder", "hi"]]) {
      const { code, stderr } = await within(args);
      expect({ args, code }).toEqual({ args, code: 0 });
      expect(stderr).toMatch(problem);
      expect(stderr).toMatch(/the file was ignored/);
    }
    for (const args of [["whoami"], ["up"], ["run", "coder", "--", "true"], ["trust"], ["context", "path"]]) {
      const { code, stderr } = await within(args);
      expect({ args, code }).toEqual({ args, code: 2 });
      expect(stderr).toMatch(problem);
    }
    expect((await within(["doctor"])).stderr + (await within(["doctor"])).stdout).toMatch(problem);

    const elsewhere = async (): Promise<void> => {
      expect(await within(["run", "tester", "--", "true"], { cwd: other })).toMatchObject({ code: 0 });
      expect(await within(["send", "tester", "hi"], { cwd: other })).toMatchObject({ code: 0 });
    };
    await elsewhere();
    expect(await within(["daemon", "stop"])).toMatchObject({ code: 0 });
    await elsewhere();
  });

  test("whose file becomes a fifo under an agent that asks for something does not stop the daemon", async () => {
    const go = join(home.dir, "go");
    fifo(go);
    const script = `read -r line <"$0" && exec "$1" send coder "from inside"`;
    const bin = join(import.meta.dirname, "../../bin/perdure.js");
    const agent = home.spawn(["run", "agent", "--", "sh", "-c", script, go, bin], DEADLINE);
    await home.until("agent", ({ state }) => state === "running");
    fifo(config);
    const writer = openSync(go, "w");
    writeFileSync(writer, "now\n");
    closeSync(writer);
    const code = await new Promise((done) => agent.on("close", done));
    expect(code).toBe(0);
    expect((await within(["inbox", "coder"])).stdout).toContain("from inside");
    expect(await within(["ls"], { cwd: other })).toMatchObject({ code: 0 });
  });

  test("the user's own config.toml may be no fifo either", async () => {
    mkdirSync(join(home.dir, ".config", "perdure"), { recursive: true });
    fifo(join(home.dir, ".config", "perdure", "config.toml"));
    const { code, stderr } = await within(["run", "coder", "--", "true"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/config\.toml is not a regular file/);
  });

  test("whose .git is a fifo, or names a folder with one, is told so", async () => {
    const git = join(home.project, ".git");
    fifo(git);
    for (const args of [["ls"], ["whoami"], ["up"], ["send", "coder", "hi"]]) {
      const { code, stderr } = await within(args);
      expect({ args, code }).toEqual({ args, code: 2 });
      expect(stderr).toMatch(/\.git is not a regular file/);
    }
    rmSync(git);
    const named = join(home.dir, "named");
    mkdirSync(named);
    writeFileSync(join(named, "HEAD"), "");
    fifo(join(named, "commondir"));
    writeFileSync(git, `gitdir: ${named}\n`);
    expect((await within(["ls"])).stderr).toMatch(/commondir is not a regular file/);
    rmSync(git);
  });

  test("whose git files are fifos gets no worktree, and git is not asked", async () => {
    home.git(["init", "--quiet"]);
    home.git(["commit", "--quiet", "--allow-empty", "-m", "first"]);
    writeFileSync(config, '[workers.coder]\nvendor = "scripted"\nworktree = true\n');
    const index = join(home.project, ".git", "packed-refs");
    fifo(index);
    const { stdout, stderr } = await within(["up", "--yes"]);
    expect(stdout + stderr).toMatch(/packed-refs is not a regular file, so git cannot be asked/);
    rmSync(index);
  });

  test("whose first prompt is a fifo is not brought up", async () => {
    writeFileSync(config, '[workers.coder]\nvendor = "claude"\nprompt = "prompt.md"\n');
    fifo(join(home.project, "prompt.md"));
    for (const args of [["up"], ["trust"]]) {
      const { code, stderr } = await within(args);
      expect({ args, code }).toEqual({ args, code: 2 });
      expect(stderr).toMatch(/prompt "prompt\.md" is not a regular file/);
    }
  });

  test("the text of a message comes from a regular file, or from a bounded standard input", async () => {
    const pipe = join(home.dir, "pipe");
    fifo(pipe);
    for (const file of [pipe, "/dev/zero"]) {
      const { code, stderr } = await within(["send", "coder", "--file", file]);
      expect(code).toBe(2);
      expect(stderr).toMatch(/is not a regular file\.\n {2}→ ls -l .*a pipe is read as -/);
    }
    expect(await within(["send", "coder", "--file", join(home.dir, "none")])).toMatchObject({ code: 3 });
    const zero = openSync("/dev/zero", "r");
    const stdin: SpawnOptions = { stdio: [zero, "pipe", "pipe"] };
    const sent = await within(["send", "coder", "-"], stdin);
    expect(sent.code).toBe(2);
    expect(sent.stderr).toMatch(/more than 262144 bytes.*\n.*--attach FILE/);
    const logged = await within(["context", "log", "-"], stdin);
    closeSync(zero);
    expect(logged.code).toBe(2);
    expect(logged.stderr).toMatch(/The entry has more than 1048576 bytes/);
  });

  test("a fifo is not attached, and the daemon serves others meanwhile", async () => {
    const pipe = join(home.dir, "pipe");
    fifo(pipe);
    // More than the threads that the daemon has for files: if each waited, nothing else would be read.
    const tries = await Promise.all(Array.from({ length: 6 }, () => within(["send", "coder", "x", "--attach", pipe])));
    for (const { code, stderr } of tries) {
      expect(code).toBe(3);
      expect(stderr).toMatch(/There is no file .*pipe to attach/);
    }
    writeFileSync(join(home.dir, "note"), "x".repeat(3_000_000));
    expect(await within(["send", "coder", "x", "--attach", join(home.dir, "note")])).toMatchObject({ code: 0 });
  });

  test("a context file that is a fifo is not written to", async () => {
    const { stdout } = await within(["context", "path"]);
    const file = join(home.project, stdout.trim());
    mkdirSync(join(file, ".."), { recursive: true });
    fifo(file);
    const { code, stderr } = await within(["context", "log", "hi"]);
    expect(code).toBe(5);
    expect(stderr).toMatch(/is not a regular file/);
  });

  test("a backup that is a fifo is not restored", async () => {
    fifo(join(home.dir, "backup"));
    await within(["daemon", "stop"]);
    const { code, stderr } = await within(["daemon", "start", "--restore", join(home.dir, "backup")]);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/is not a backup of a store/);
  });
});

test("B2: a transcript that became a fifo: the start is refused, and drill says so", async () => {
  const persona = installPersona("scripted");
  home = persona.home;
  const talk = await persona.begin("coder");
  await talk.say("the secret");
  const id = (await persona.untilProved("coder")).session?.id ?? "";
  await talk.end();
  const transcript = persona.transcript(id) ?? "";
  rmSync(transcript);
  fifo(transcript);
  const drilled = await within(["drill"]);
  expect(drilled.code).toBe(5);
  expect(drilled.stdout + drilled.stderr).toMatch(/it is not a file/);
  const run = await within(["run", "coder"]);
  expect(run.code).toBe(5);
  expect(run.stderr).toMatch(/it is not a file/);
  expect(await within(["ls"])).toMatchObject({ code: 0 });
});

import { spawn } from "node:child_process";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PRIVATE_NAMES } from "../../src/vendors/recorded-variables.ts";
import type { LaunchFile, LaunchPlan } from "../../src/vendors/launch-plan.ts";
import { EVENT_PREFIX } from "../../src/vendors/index.ts";
import { finish, type Finished } from "../support/home.ts";
import { folder, put, VENDORS, type Vendor } from "./fixtures.ts";

const HEARING = VENDORS.filter(({ adapter }) => adapter.liveness.onHook !== undefined);

test("every vendor with hooks has recorded ones", () => {
  expect(HEARING.length).toBeGreaterThan(0);
  expect(HEARING.filter(({ hooks }) => hooks.length === 0)).toEqual([]);
});

describe.each(HEARING)("$vendor", ({ adapter, hooks }) => {
  test.each(hooks.map((each, at) => ({ ...each, what: each.sign?.evidence ?? `event ${at}, which says nothing` })))(
    "hears $what",
    ({ event, sign }) => {
      expect(adapter.liveness.onHook?.(event)).toEqual(sign);
    },
  );
});

/** The others are heard in another way: by code of ours that runs inside them. */
const COMMANDED = HEARING.filter(({ adapter, facts }) => planOf(adapter, facts.session, "/").files.some(isHookScript));

test("most vendors' hooks run commands", () => {
  expect(COMMANDED.length).toBeGreaterThan(0);
});

describe.each(COMMANDED)("$vendor", (vendor) => {
  test("many hooks at a time: every event is whole, none is lost, nothing else is left", async () => {
    const run = launch(vendor);
    const before = readdirSync(run.dir);
    const events = Array.from({ length: 60 }, (_, n) => JSON.stringify({ n, text: "x".repeat(n * 997) }));
    const ends = await Promise.all(
      events.map((event, n) => hook(run, run.commands[n % run.commands.length] ?? "", event)),
    );
    expect(ends.filter(({ code, stderr }) => code !== 0 || stderr !== "")).toEqual([]);
    expect(eventsIn(run.dir).toSorted()).toEqual(events.toSorted());
    expect(readdirSync(run.dir).filter((name) => !name.startsWith(EVENT_PREFIX))).toEqual(before);
  });

  test("a megabyte is whole, and any byte is kept", async () => {
    const run = launch(vendor);
    const event = JSON.stringify({ text: `'"\\\n\0ü${"y".repeat(1024 * 1024)}` });
    await hook(run, run.commands[0] ?? "", event);
    expect(eventsIn(run.dir)).toEqual([event]);
  });

  test("a pid that comes again overwrites nothing", async () => {
    const { dir, env } = launch(vendor);
    // In a subshell $$ is the shell's own.
    const twice = '(. "$0/hook" < "$0/a"); (. "$0/hook" < "$0/b")';
    put(dir, "a", "first");
    put(dir, "b", "second");
    const { code } = await finish(spawn("/bin/sh", ["-c", twice, dir], { env, stdio: "ignore" }));
    expect(code).toBe(0);
    expect(eventsIn(dir).toSorted()).toEqual(["first", "second"]);
  });

  test("only the start hook prints the message for the agent", async () => {
    const run = launch(vendor, 'It\'s "here":\n$HOME `x`');
    const told = JSON.stringify('It\'s "here":\n$HOME `x`');
    const said = await Promise.all(run.commands.map((command) => hook(run, command, "{}")));
    expect(said.filter(({ stdout }) => stdout.includes(told))).toHaveLength(1);
    expect(said.filter(({ stdout }) => stdout === "")).toHaveLength(run.commands.length - 1);
    const silent = launch(vendor);
    const nothing = await Promise.all(silent.commands.map((command) => hook(silent, command, "{}")));
    expect(nothing.map(({ stdout, stderr }) => stdout + stderr).join("")).toBe("");
  });

  test("a run whose folder is gone is not disturbed: exit 0, and not a word", async () => {
    const run = launch(vendor);
    rmSync(run.dir, { recursive: true });
    for (const command of run.commands) {
      expect(await hook(run, command, '{"n":1}')).toEqual({ code: 0, stdout: "", stderr: "" });
    }
  });

  test("a hook that was already read when its folder went is silent too", async () => {
    const { dir, env } = launch(vendor);
    const script = readFileSync(join(dir, "hook"), "utf8");
    rmSync(dir, { recursive: true });
    expect(await finishWith("/bin/sh", ["-c", script, "hook", "start"], "{}", env)).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });
  });

  test("a hook that a nested agent calls is silent, where the environment shows it", async () => {
    const run = launch(vendor);
    for (const [name, value] of Object.entries(vendor.facts.nested ?? {})) {
      const env = { ...run.env, [name]: value };
      for (const command of run.commands) await hook({ env }, command, "{}");
    }
    expect(eventsIn(run.dir)).toEqual([]);
  });

  test("no other user can read what the hooks leave", async () => {
    const run = launch(vendor);
    await hook(run, `umask 000; ${run.commands[0] ?? ""}`, "{}");
    const events = readdirSync(run.dir).filter((name) => name.startsWith(EVENT_PREFIX));
    expect(events.map((name) => statSync(join(run.dir, name)).mode & 0o777)).toEqual([0o600]);
  });
});

interface Launched {
  dir: string;
  /** The environment they are called in. */
  env: NodeJS.ProcessEnv;
  /** The commands as the vendor is told them. */
  commands: string[];
}

/** A run's folder with all that a launch writes into it; its name is as unpleasant as a path can be. */
function launch({ adapter, facts }: Vendor, told?: string): Launched {
  const dir = join(folder(), 'it\'s a "run" $HOME');
  const { args, files, variables = {} } = planOf(adapter, facts.session, dir);
  const say = told === undefined ? undefined : adapter.launch.startMessage?.(told);
  for (const { name, text } of say ? [...files, say] : files) put(dir, name, text);
  const env: NodeJS.ProcessEnv = { ...process.env };
  for (const name of PRIVATE_NAMES) delete env[name];
  for (const [name, value] of Object.entries(variables)) if (value !== null) env[name] = value;
  // Settings may be there twice, so that a change in those that the program reads is seen.
  const commands = new Set([...args.flatMap(commandsInSetting), ...files.flatMap(commandsIn)]);
  return { dir, env, commands: [...commands] };
}

function planOf(adapter: Vendor["adapter"], session: string, runDir: string): LaunchPlan {
  const places = { runDir, cwd: "/", configDir: "/home/u/.v", transcript: null, from: null, declared: null };
  return adapter.launch.plan({ step: "new", session, name: "coder", args: [], prompt: null, ...places });
}

function isHookScript({ name }: LaunchFile): boolean {
  return name === "hook";
}

/** Every `command="…"` of a setting on the command line. */
function commandsInSetting(word: string): string[] {
  return [...word.matchAll(/\bcommand=("(?:[^"\\]|\\.)*")/g)].map(([, text = ""]) => JSON.parse(text) as string);
}

/** Every `"command": "…"` of a file, or `"bash"` where it is called that, however deep. */
function commandsIn({ name, text }: LaunchFile): string[] {
  if (!name.endsWith(".json")) return [];
  const commands: string[] = [];
  JSON.parse(text, (key, value: unknown) => {
    if ((key === "command" || key === "bash") && typeof value === "string") commands.push(value);
    return value;
  });
  return commands;
}

function hook({ env }: Pick<Launched, "env">, command: string, input: string): Promise<Finished> {
  return finishWith("/bin/sh", ["-c", command], input, env);
}

async function finishWith(program: string, args: string[], input: string, env: NodeJS.ProcessEnv): Promise<Finished> {
  const child = spawn(program, args, { env, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.on("error", () => undefined); // one that does not want to know is right to leave
  child.stdin.end(input);
  return finish(child);
}

function eventsIn(dir: string): string[] {
  return readdirSync(dir)
    .filter((name) => name.startsWith(EVENT_PREFIX))
    .map((name) => readFileSync(join(dir, name), "utf8"));
}

import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { connect } from "../../src/index.ts";
import { fleetHome } from "../support/fleet-home.ts";
import { finish, Home, type Finished } from "../support/home.ts";
import { outputWith, runLibraryProgram } from "./library-program.ts";

const EXAMPLES = resolve(import.meta.dirname, "../../examples");

function example(name: string): string {
  const source = readFileSync(join(EXAMPLES, `${name}.js`), "utf8");
  expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(40);
  return source;
}

const FLEET = `[defaults]
vendor = "scripted"
[workers.planner]
[workers.coder]
`;

it("one flag resumes the fleet: every agent is in the conversation that it was in before the machine went down", async () => {
  const home = fleetHome(FLEET);
  const source = example("resume-fleet");
  const start = (...flags: string[]): Promise<Finished> => finish(runLibraryProgram(home, source, flags));

  const begun = await start("--session", "friday");
  expect(begun).toMatchObject({ code: 0, stderr: "" });
  const ids = conversations(begun.stdout);
  expect(Object.keys(ids).toSorted()).toEqual(["coder", "planner"]);
  expect(begun.stdout).toContain("saved friday (current): ");
  await home.untilIdle();
  await home.say("coder", "remember the parser");

  const runs = (await home.workers()).flatMap((worker) => (worker.run === null ? [] : [worker.run.id]));
  const daemon = home.daemonPid();
  if (daemon !== null) process.kill(daemon, "SIGKILL");
  home.killTmux();
  for (const each of runs) home.killRun(each);
  await expect.poll(() => runs.flatMap((each) => home.processesOf(each)), { timeout: 20_000 }).toEqual([]);
  const back = await start("--resume", "friday");
  expect(back).toMatchObject({ code: 0, stderr: "" });
  expect(back.stdout).toContain("coder: started, resume scripted");
  expect(conversations(back.stdout)).toEqual(ids);

  const unknown = await start("--resume", "monday");
  expect(unknown.code).not.toBe(0);
  expect(unknown.stderr).toMatch(/monday.*\n→ /);
});

function conversations(stdout: string): Record<string, string> {
  const rows = [...stdout.matchAll(/^(\w+): started, \w+ scripted (\S+)$/gm)];
  return Object.fromEntries(rows.map(([, name = "", id = ""]) => [name, id]));
}

// The stand-in for Pi keeps a conversation in its session file, as Pi does, and says how many turns it has had.
const PI = `#!/bin/sh
[ "$1" = -p ] && [ "$2" = --session ] || exit 2
echo "$4" >> "$3"
while [ -e hold ]; do sleep 0.05; done
echo "turn $(wc -l < "$3" | tr -d ' ') of $GSD_SESSION_ID: $4"
`;

let home: Home;
beforeEach(() => {
  home = new Home();
});
afterEach(() => home.clear());

it("a daemon of seed 003: a message in, a turn in the conversation of its key, an answer out, over kill -9", async () => {
  const bin = join(home.dir, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "pi"), PI);
  chmodSync(join(bin, "pi"), 0o755);
  home.env.PATH = `${bin}:${home.env.PATH}`;
  const source = example("pi-daemon");
  const first = runLibraryProgram(home, source);
  await outputWith(first, "api/tasks is ready");
  await using perdure = await connect({ env: home.env, cwd: home.project });
  const ask = async (text: string): Promise<string> => (await perdure.ask("tasks", text)).body;

  expect(await ask("gsd-1 hello")).toBe("turn 1 of gsd-1: hello");
  expect(await ask("gsd-2 hello")).toBe("turn 1 of gsd-2: hello");
  expect(await ask("gsd-1 go on")).toBe("turn 2 of gsd-1: go on");

  writeFileSync(join(home.project, "hold"), "");
  const interrupted = ask("gsd-1 the long one");
  const folder = join(home.state, "pi-sessions");
  const file = join(folder, readdirSync(folder).find((name) => name.includes("gsd-1")) ?? "");
  await expect.poll(() => readFileSync(file, "utf8")).toContain("the long one");
  first.kill("SIGKILL");
  await once(first, "close");
  const second = runLibraryProgram(home, source);
  await outputWith(second, "api/tasks is ready");
  rmSync(join(home.project, "hold"));
  // The turn may have been made twice, in the same conversation; it is answered once.
  expect(await interrupted).toMatch(/^turn [34] of gsd-1: the long one$/);
  expect(await ask("gsd-1 still there?")).toMatch(/^turn [45] of gsd-1/);
  second.kill("SIGKILL");
  await once(second, "close");
});

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fleetTemplate } from "../../../src/commands/fleet/init-template.ts";
import { findProject } from "../../../src/project/find.ts";
import { readFleet, type Fleet } from "../../../src/project/fleet/read.ts";
import { Home } from "../../support/home.ts";

let home: Home;
let bin: string;
beforeEach(() => {
  home = new Home();
  bin = join(home.dir, "bin");
  mkdirSync(bin);
});
afterEach(() => home.clear());

/** Runs `init` with these programs on PATH and no other agent; the shell finds Node by itself. */
async function init(programs: string[], cwd = home.project): Promise<{ code: number; stdout: string; stderr: string }> {
  for (const program of programs) {
    writeFileSync(join(bin, program), "#!/bin/sh\n");
    chmodSync(join(bin, program), 0o755);
  }
  return home.perdure(["init"], { cwd, env: { ...home.env, PATH: `${bin}:${home.env.PATH}` } });
}

function text(): string {
  return readFileSync(join(home.project, "perdure.toml"), "utf8");
}

function unmarked(marked: string): string {
  return marked.replace(/^# (?=\[|[a-z_]+ = )/gm, "");
}

function fleet(): Fleet | null {
  return readFleet(findProject(home.project));
}

test("init writes a valid fleet of the agents that are installed", async () => {
  const none = await home.perdure(["up", "coder"]);
  expect(none).toMatchObject({ code: 3, stderr: expect.stringContaining("perdure up NAME -- COMMAND") as string });
  const { code, stdout, stderr } = await init(["codex", "gemini"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: `wrote ${join(home.project, "perdure.toml")}\n` });
  expect(stderr).toMatch(/\n→ perdure up starts them/);
  const [vendor] = fleet()?.workers.map((worker) => worker.vendor) ?? [];
  expect(fleet()).toMatchObject({
    project: "api",
    workers: [{ name: "planner", restart: "on-failure", mode: "tmux" }, { name: "coder" }],
  });
  expect(text()).toContain(`vendor = ${JSON.stringify(vendor)}`);
  expect(text()).toMatch(/found on PATH: .*codex.*gemini/);
});

test("every commented example in the file is valid, too", async () => {
  await init(["codex"]);
  writeFileSync(join(home.project, "perdure.toml"), unmarked(text()));
  mkdirSync(join(home.project, "prompts"));
  writeFileSync(join(home.project, "prompts/planner.md"), "You are {{name}}, with {{peers}}.");
  const workers = fleet()?.workers ?? [];
  expect(workers.map(({ name }) => name)).toEqual(["planner", "coder-1", "coder-2", "reviewer", "build", "legacy"]);
  const [planner, coder, , reviewer, build, legacy] = workers;
  expect(planner).toMatchObject({ cwd: join(home.project, "docs"), env: { LOG: "info" } });
  expect(planner?.prompt).toBe("You are planner, with coder-1, coder-2, reviewer, build, legacy.");
  expect(coder).toMatchObject({ group: "pair", worktree: { copy: [".env"] }, env: { LOG: "debug" } });
  expect(reviewer).toMatchObject({ mode: "tmux", restart: "never" });
  expect(build).toMatchObject({ vendor: null, restart: "always", command: ["make", "watch"] });
  expect(legacy?.declared).toEqual({ new: ["--id", "{id}"], resume: ["--continue", "{id}"] });
});

test("without an installed agent the built-in one is used, and comes up", async () => {
  writeFileSync(join(home.project, "perdure.toml"), fleetTemplate("api", []));
  expect(fleet()?.workers).toMatchObject([
    { name: "planner", vendor: "scripted" },
    { name: "coder", vendor: "scripted" },
  ]);
  expect(await home.json(["up", "--yes"])).toMatchObject({ started: 2, refused: 0 });
  await home.perdure(["down"]);
});

test("init never overwrites", async () => {
  await init(["codex"]);
  writeFileSync(join(home.project, "perdure.toml"), "# mine\n");
  const { code, stderr } = await init(["codex"]);
  expect({ code, stderr }).toMatchObject({ code: 4, stderr: expect.stringContaining("was not changed") as string });
  expect(text()).toBe("# mine\n");
});

test("init in a worktree writes to the main tree, where the fleet is read from", async () => {
  home.git(["init", "-q"]);
  home.git(["commit", "-q", "--allow-empty", "-m", "first"]);
  const tree = join(home.dir, "tree");
  home.git(["worktree", "add", "-q", tree]);
  expect((await init(["codex"], tree)).stdout).toBe(`wrote ${join(home.project, "perdure.toml")}\n`);
  expect(fleet()?.workers).toHaveLength(2);
});

import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { UpItem } from "../../../src/protocol/records/fleet.ts";
import { processTable } from "../../../src/runtime/process/index.ts";
import { fleetHome, type FleetHome } from "../../support/fleet-home.ts";
import { Tmux } from "../../terminal/tmux.ts";

const VALUE = "value-of-acme-4711";

/** Types a command at a terminal that has these variables, and returns what it printed. */
async function atTerminal(fleet: FleetHome, words: string, env: Record<string, string> = {}): Promise<string> {
  const tmux = await Tmux.start(fleet);
  onTestFinished(() => tmux.stop().catch(() => undefined));
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const bin = join(import.meta.dirname, "../../../bin/perdure.js");
  const pane = await tmux.pane(["env", ...variables, bin, ...words.split(" ")]);
  const code = await pane.ended();
  const text = await tmux.do("capture-pane", "-p", "-J", "-S", "-", "-t", pane.id);
  await tmux.stop();
  return `${text.trimEnd()}\n${code}`;
}

/** A variable of the program that runs as the worker. */
async function variableOf(fleet: FleetHome, name: string, variable: string): Promise<string | null> {
  const run = (await fleet.until(name, (worker) => worker.run !== null && worker.session?.proved === true)).run;
  const table = processTable();
  const found = table.withVariable("PERDURE_RUN", run?.id ?? "").map(({ pid }) => table.variable(pid, variable));
  return found.find((value) => value !== null) ?? null;
}

/** Everything on disk below the home that holds the text, but for where it belongs. */
function filesWith(fleet: FleetHome, text: string): string[] {
  return globSync("**/*", { cwd: fleet.dir, exclude: (path) => path.endsWith("environments") })
    .filter((path) => statSync(join(fleet.dir, path), { throwIfNoEntry: false })?.isFile() === true)
    .filter((path) => readFileSync(join(fleet.dir, path)).includes(text));
}

it("what a person's terminal has arrives, and stays through scripts, crashes, a killed daemon and a reboot", async () => {
  const fleet = fleetHome(`[workers.coder]\nvendor = "scripted"\nenv = { LOG = "debug", ACME_URL = "of the file" }\n`);
  const boot = join(fleet.dir, "boot-id");
  writeFileSync(boot, "11111111-1111-1111-1111-111111111111");
  fleet.env.PERDURE_BOOT_ID_FILE = boot;
  const terminal = { ACME_KEY: VALUE, ACME_URL: "of the shell", LINES_OF: "one\n two 'x'", GIT_DIR: "/elsewhere" };
  const said = [await atTerminal(fleet, "up --yes", terminal)];
  const arrived = async (): Promise<void> => {
    await fleet.untilIdle();
    expect(await variableOf(fleet, "coder", "ACME_KEY")).toBe(VALUE);
    expect(await variableOf(fleet, "coder", "LINES_OF")).toBe("one\n two 'x'");
    // An entry's own variables win.
    expect(await variableOf(fleet, "coder", "ACME_URL")).toBe("of the file");
    expect(await variableOf(fleet, "coder", "GIT_DIR")).toBeNull();
  };
  await arrived();
  await fleet.say("coder", "hello");

  // A script, which has less, restarts the worker, and brings it down and up.
  for (const words of [["restart", "coder"], ["down"], ["up", "--yes"]]) {
    const { code, stdout, stderr } = await fleet.perdure(words);
    expect(code === 0 ? "" : stderr).toBe("");
    said.push(stdout + stderr);
  }
  await arrived();

  // The agent is killed, and with the next one the daemon, too.
  const kill = async (): Promise<void> => {
    const { run } = await fleet.until("coder", (worker) => worker.run !== null);
    for (const { pid } of processTable().withVariable("PERDURE_RUN", run?.id ?? "")) process.kill(pid, "SIGKILL");
    await fleet.until("coder", (worker) => worker.run !== null && worker.run.id !== run?.id);
  };
  await kill();
  await arrived();
  process.kill(fleet.daemonPid() ?? 0, "SIGKILL");
  await kill();
  await arrived();

  // The machine goes down, and the next boot's daemon brings the fleet back.
  await fleet.killEverything();
  writeFileSync(boot, "22222222-2222-2222-2222-222222222222");
  await fleet.service();
  await fleet.until("coder", ({ run }) => run !== null);
  await arrived();

  const backup = join(fleet.dir, "backup.db");
  for (const words of [
    ["backup", backup],
    ["ls", "--all"],
    ["show", "coder"],
    ["events"],
    ["history", "coder"],
    ["drill"],
  ]) {
    for (const json of [[], ["--json"]]) {
      const { stdout, stderr } = await fleet.perdure([...words, ...json]);
      said.push(stdout + stderr);
    }
  }
  expect(said.join("\n")).not.toContain(VALUE);
  expect(said.join("\n")).toMatch(/variables recorded, all that a terminal had/);
  expect(filesWith(fleet, VALUE)).toEqual([]);
  const commandLines = processTable()
    .commandLines()
    .map(({ argv }) => argv.join(" "));
  expect(commandLines.filter((line) => line.includes(VALUE))).toEqual([]);
}, 240_000);

it("without its environment, as after a restored backup, a worker waits for a terminal, and nothing starts it without", async () => {
  const fleet = fleetHome(`[workers.coder]\nvendor = "scripted"\n`);
  await atTerminal(fleet, "up --yes", { ACME_KEY: VALUE });
  await fleet.untilIdle();
  const backup = join(fleet.dir, "backup.db");
  await fleet.perdure(["backup", backup]);
  await fleet.down();
  await fleet.perdure(["daemon", "stop"]);
  rmSync(join(fleet.state, "environments"), { recursive: true });
  await fleet.perdure(["daemon", "start", "--restore", backup]);

  const { workers } = await fleet.up();
  expect(workers).toMatchObject([
    { outcome: "refused", reason: expect.stringMatching(/environment .* is gone/) as string },
  ]);
  expect(await fleet.until("coder", ({ state }) => state === "on-hold")).toMatchObject({ run: null });
  expect((await fleet.perdure(["show", "coder"])).stdout).toMatch(/environment +gone: /);
  expect((await fleet.perdure(["drill"])).stdout).toMatch(/environment is gone/);
  const restarted = await fleet.perdure(["restart", "coder"]);
  expect(restarted).toMatchObject({ code: 5, stderr: expect.stringContaining("perdure up coder") as string });

  expect(await atTerminal(fleet, "up --yes", { ACME_KEY: "another" })).toMatch(/\n0$/);
  await fleet.untilIdle();
  expect(await variableOf(fleet, "coder", "ACME_KEY")).toBe("another");
}, 120_000);

it("a person says in their own configuration that less is recorded; a repository can take names away", async () => {
  const fleet = fleetHome(`[workers.coder]\nvendor = "scripted"\n[policy]\nenvironment = ["!ACME_KEY"]\n`);
  const env = { ACME_KEY: VALUE, OTHER_KEY: "other-value" };
  await atTerminal(fleet, "up --yes", env);
  expect(await variableOf(fleet, "coder", "OTHER_KEY")).toBe("other-value");
  expect(await variableOf(fleet, "coder", "ACME_KEY")).toBeNull();
  expect((await fleet.perdure(["down"])).code).toBe(0);
  mkdirSync(join(fleet.dir, ".config", "perdure"), { recursive: true });
  writeFileSync(join(fleet.dir, ".config", "perdure", "config.toml"), '[environment]\nkeep = "known"\n');
  await atTerminal(fleet, "up --yes", env);
  expect(await variableOf(fleet, "coder", "OTHER_KEY")).toBeNull();
  expect(filesWith(fleet, "other-value")).toEqual([]);
  expect(execFileSync("grep", ["-rlc", "HOME", join(fleet.state, "environments")], { encoding: "utf8" })).not.toBe("");
}, 120_000);

it("an agent's shell gives known variables only, even where the agent gives it a terminal", async () => {
  const fleet = fleetHome(`[workers.coder]\nvendor = "scripted"\n`);
  const inside = { ACME_KEY: VALUE, PERDURE_RUN: "h.api.other.1" };
  expect(await atTerminal(fleet, "up --yes", inside)).toMatch(/\n0$/);
  expect(await variableOf(fleet, "coder", "ACME_KEY")).toBeNull();
  const [item] = (await fleet.up()).workers satisfies UpItem[];
  expect(item?.outcome).toBe("running");
}, 120_000);

it("run at a terminal records for later starts, too, and a file goes with the last worker that needs it", async () => {
  const fleet = fleetHome(`[workers.other]\nvendor = "scripted"\n`);
  const files = (): string[] => globSync("environments/*", { cwd: fleet.state });
  expect(await atTerminal(fleet, "run plain -- true", { ACME_KEY: VALUE })).toMatch(/\n0$/);
  expect((await fleet.perdure(["run", "plain"])).code).toBe(0);
  const shown = await fleet.show("plain");
  expect(shown.environmentScope).toBe("whole");
  expect(shown.environment).toContain("ACME_KEY");
  expect(files()).toHaveLength(1);
  expect((await fleet.perdure(["retire", "plain"])).code).toBe(0);
  expect(files()).toEqual([]);
});

it("up at a terminal that lacks what an earlier one had names it, and says nothing where there is no difference", async () => {
  const fleet = fleetHome(`[workers.coder]\nvendor = "scripted"\n`);
  await atTerminal(fleet, "up --yes", { ACME_KEY: VALUE, ACME_URL: "of the shell" });
  await fleet.untilIdle();
  await fleet.down();
  const said = await atTerminal(fleet, "up --yes", { ACME_URL: "of another shell" });
  expect(said).toContain("without ACME_KEY, which it had before and this shell does not have");
  expect(said).not.toContain(VALUE);
  await fleet.untilIdle();
  await fleet.down();
  expect(await atTerminal(fleet, "up --yes", { ACME_URL: "of another shell" })).not.toContain("without");
});

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { processTable } from "../../../src/runtime/process/index.ts";
import { fleetHome, type FleetHome } from "../../support/fleet-home.ts";
import { Shell } from "../../terminal/shell.ts";
import { CLEAN, Tmux, until } from "../../terminal/tmux.ts";

const TWO = `[workers.one]\nvendor = "scripted"\n[workers.two]\nvendor = "scripted"\n`;

async function shellIn(
  fleet: FleetHome,
  env: Record<string, string> = {},
): Promise<{ shell: Shell; tmux: Tmux; clean: string }> {
  const tmux = await Tmux.start(fleet);
  onTestFinished(() => tmux.stop());
  const shell = await Shell.start(tmux, fleet, { ...env, TMUX: "", TMUX_PANE: "" });
  await shell.run("unset TMUX TMUX_PANE");
  return { shell, tmux, clean: shell.settings() };
}

async function fleetOfTwo(): Promise<FleetHome> {
  const fleet = fleetHome(TWO);
  await fleet.up();
  await fleet.untilIdle();
  return fleet;
}

test("the bare perdure has keys: select, attach and come back, send, look, restart, help, suspend, quit", async () => {
  const fleet = await fleetOfTwo();
  const { shell, tmux, clean } = await shellIn(fleet);
  const { pane } = shell;
  await pane.line("$P");
  await pane.shows(/› one +\d +scripted +● idle/);
  await pane.keys("Down");
  await pane.shows(/› two +\d +scripted/);

  await pane.keys("Enter");
  await pane.shows(/session .*\(two\)/);
  await pane.keys("C-b", "d");
  await pane.shows(/› two +\d +scripted/);

  await pane.keys("s");
  await pane.shows(/Message to two/);
  await pane.line("- pull; $(touch x)");
  await pane.shows(/api\/two +\w+.*delivered/);
  await fleet.untilHeard("two", "- pull; $(touch x)");

  await pane.keys("l");
  await pane.shows(/history: 0 turns[^]*scroll/);
  await pane.keys("q");
  await pane.shows(/› two/);

  // What is pasted acts on nobody.
  await tmux.do("set-buffer", "-b", "pasted", "ry\r");
  await tmux.do("paste-buffer", "-p", "-d", "-b", "pasted", "-t", pane.id);
  await pane.keys("?");
  await pane.shows(/Keys *\n[^]*any other key goes back/);
  await pane.keys("x", "r");
  await pane.shows(/Restart two in its conversation\? \[y\/N\]/);
  await pane.keys("n", "r", "y");
  await pane.shows(/api\/two was restarted/);
  const generations = (await fleet.workers()).map(({ name, generation }) => [name, generation]);
  expect(generations).toEqual([
    ["one", 1],
    ["two", 2],
  ]);

  await pane.keys("C-z");
  expect(await shell.status()).toBe(147);
  expect(await pane.modes()).toEqual(CLEAN);
  expect(shell.settings()).toBe(clean);
  await pane.line("fg");
  await pane.shows(/› two +\d +scripted/);
  await pane.keys("q");
  expect(await shell.status()).toBe(0);
  expect(await pane.modes()).toEqual(CLEAN);
  expect(shell.settings()).toBe(clean);
  await shell.echoes();
});

test("n goes to who needs somebody, and attach alone does too", async () => {
  const fleet = await fleetOfTwo();
  const { shell } = await shellIn(fleet);
  const { pane } = shell;
  await pane.line("$P attach");
  await pane.shows(/› api\/one +idle[^]*Enter done/);
  await pane.keys("Down", "Enter");
  await pane.shows(/session .*\(two\)/);
  await pane.line("/permission");
  await fleet.until("two", ({ state }) => state === "blocked");
  await pane.keys("C-b", "d");
  expect(await shell.status()).toBe(0);

  await pane.line("clear; $P attach");
  await pane.shows(/\/permission/);
  await pane.keys("C-b", "d");
  expect(await shell.status()).toBe(0);
  await pane.line("clear; $P ls --watch");
  await pane.shows(/› two +\d +scripted +◆ blocked[^]*Needs you\n +two +perdure attach two/);
  await pane.keys("Up");
  await pane.shows(/› one/);
  await pane.keys("n");
  await pane.shows(/› two/);
  await pane.keys("q");
  expect(await shell.status()).toBe(0);

  // Where several need somebody, a person picks.
  await fleet.type("one", "/permission");
  await fleet.until("one", ({ state }) => state === "blocked");
  await pane.line("clear; $P attach");
  await pane.shows(/Attach to \(2 need you\)\n› api\/one +blocked +asks for permission/);
  await pane.keys("q");
  expect(await shell.status()).toBe(0);
});

test("u and s stay on the board's own screen, and what is typed ahead of Enter is no command", async () => {
  const fleet = fleetHome(`${TWO}[workers.three]\ncommand = ["sleep", "600"]\n`);
  await fleet.up();
  await fleet.perdure(["stop", "one"]);
  const { shell } = await shellIn(fleet);
  const { pane } = shell;
  await shell.run("echo old-text");
  await pane.line("$P ls --watch");
  await pane.shows(/› one +[^]*\? help {2}u bring up/);
  await pane.keys("s");
  await pane.shows(/one +[^]*Message to one/);
  expect(await pane.screen()).not.toContain("old-text");
  await pane.line("");
  await pane.shows(/u bring up/);
  await pane.keys("u");
  await pane.shows(/1 up, 1 started[^]*Enter goes back, q quits/);
  expect(await pane.screen()).not.toMatch(/old-text|ended with/);
  await pane.keys("r", "s", "?", "Enter");
  await pane.shows(/› one[^]*Enter attach[^]*r restart[^]*q quit/);
  await pane.keys("Down");
  await pane.shows(/› three/);
  await pane.keys("r");
  await pane.shows(/Restart three from scratch\? /);
  await pane.keys("n", "u");
  await pane.shows(/already running[^]*Enter goes back/);
  await pane.keys("C-c");
  expect(await shell.status()).toBe(130);
  expect(await pane.modes()).toEqual(CLEAN);
  expect(await pane.screen()).toContain("old-text");
  const generations = (await fleet.workers()).map(({ name, generation }) => `${name} ${generation}`);
  expect(generations).toEqual(["one 2", "three 1", "two 1"]);
});

/** The last one makes the program throw an error that nobody catches. */
const ENDS: readonly NodeJS.Signals[] = ["SIGTERM", "SIGHUP", "SIGUSR2"];

test("however it ends, the terminal is as it was", async () => {
  const fleet = await fleetOfTwo();
  const crash = "data:text/javascript,process.on(%22SIGUSR2%22,()=>{throw%20Error(%22crash%22)})";
  const { shell, clean } = await shellIn(fleet, { NODE_OPTIONS: `--import=${crash}`, MARK: "the-board" });
  const { pane } = shell;
  for (const signal of ENDS) {
    await pane.line("clear; $P");
    await pane.shows(/› one +\d +scripted/);
    process.kill(await boardOf(fleet), signal);
    expect(await shell.status()).toBeGreaterThan(0);
    expect(await pane.modes()).toEqual(CLEAN);
    expect(shell.settings()).toBe(clean);
    await shell.echoes();
  }
});

test("outside of every project it shows the workers of all, and with nobody it says how to begin", async () => {
  const fleet = await fleetOfTwo();
  mkdirSync(join(fleet.dir, "elsewhere"));
  const { shell } = await shellIn(fleet);
  const { pane } = shell;
  await shell.run("cd ../elsewhere");
  await pane.line("clear; $P ls");
  await pane.shows(/api\/one +\d +scripted[^]*No workers in this project; these are all there are/);
  await shell.status();
  await pane.line("clear; $P");
  await pane.shows(
    /all projects {2}none in this folder; to begin one here: perdure init[^]*› api\/one +\d +scripted[^]*q quit/,
  );
  await pane.keys("q");
  await shell.status();
  await fleet.down();
  for (const name of ["one", "two"]) await fleet.perdure(["retire", name]);
  await pane.line("clear; $P");
  await pane.shows(/elsewhere[^]*→ perdure init/);
  expect(await shell.status()).toBe(0);
});

/** The process that reads the keys. */
async function boardOf(fleet: FleetHome): Promise<number> {
  return until("the board's process", () => {
    const table = processTable();
    const marked = table.withVariable("MARK", "the-board").filter(({ command }) => !command.includes("bash"));
    return marked.find(({ pid }) => table.variable(pid, "HOME") === fleet.dir)?.pid ?? null;
  });
}

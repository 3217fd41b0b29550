import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { eventually } from "../../support/check.ts";
import { finish } from "../../support/home.ts";
import { fleetHome, type FleetHome } from "../../support/fleet-home.ts";

const TWELVE = `project = "api"\n[workers.coder]\ncount = 12\nvendor = "scripted"\nrestart = "always"\n`;

/** The files that start a pane, run by run. */
function scripts(fleet: FleetHome): string[] {
  const runs = join(fleet.state, "runs");
  const found = existsSync(runs) ? readdirSync(runs).map((run) => join(runs, run, "start")) : [];
  return found.filter((script) => existsSync(script));
}

function killDaemon(fleet: FleetHome): void {
  process.kill(fleet.daemonPid() ?? 0, "SIGKILL");
}

it("killed in the middle of the very first up: the next daemon brings up what the last one was asked for", async () => {
  const fleet = fleetHome(TWELVE, { PERDURE_RESTART_WAIT_MS: "20" });
  await fleet.perdure(["daemon", "start"]);
  const up = finish(fleet.spawn(["up", "--yes"]));
  while (scripts(fleet).length === 0) await turn();
  killDaemon(fleet);
  await up;
  const workers = await fleet.untilIdle();
  expect(workers.length).toBe(12);
  for (const { attention } of workers) expect(attention).toBe(null);
});

it("killed in the middle of an up after a down: those whose turn had not come are started, not left stopped", async () => {
  // More than get ready at once.
  const fleet = fleetHome(`project = "api"\n[workers.coder]\ncount = 40\ncommand = ["sleep", "600"]\n`);
  await fleet.up();
  await fleet.down();
  const up = finish(fleet.spawn(["up", "--yes"]));
  while (scripts(fleet).length === 0) await turn();
  killDaemon(fleet);
  await up;
  await eventually("all of them to run", async () => {
    const workers = await fleet.workers();
    return workers.every(({ state }) => state === "running");
  });
  expect((await fleet.workers()).length).toBe(40);
});

it("a pane that is late finds nothing to start once its run is over", async () => {
  const fleet = fleetHome(`project = "api"\n[workers.coder]\nvendor = "scripted"\nrestart = "never"\n`);
  await fleet.up();
  const [before] = await fleet.untilIdle();
  const [script] = scripts(fleet);
  expect(script).toBeDefined();
  fleet.killRun(before?.run?.id ?? "");
  await eventually("its end", async () => (await fleet.workers())[0]?.state === "stopped");
  expect(scripts(fleet)).toEqual([]);
});

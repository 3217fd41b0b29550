import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { WorkerSummary } from "../../../src/protocol/records/worker.ts";
import { eventually } from "../../support/check.ts";
import type { EventRecord } from "../../../src/protocol/records/admin.ts";
import { expect, it } from "vitest";
import { byName, fleetHome, type FleetHome } from "../../support/fleet-home.ts";

async function events(fleet: FleetHome, type: string): Promise<EventRecord[]> {
  const { stdout } = await fleet.perdure(["events", "--json"]);
  const all = stdout.trim().split("\n");
  return all.map((line) => JSON.parse(line) as EventRecord).filter((event) => event.type === type);
}

it("a killed worker comes back by itself, in its conversation", async () => {
  const fleet = fleetHome(`[workers.coder]\nvendor = "scripted"\n`);
  await fleet.up();
  const [before] = await fleet.untilIdle();
  await fleet.say("coder", "remember this");
  const watching = fleet.spawn(["ls", "--watch", "--json"]);
  const states: string[] = [];
  createInterface({ input: watching.stdout! }).on("line", (line) => {
    states.push(...(JSON.parse(line) as { workers: WorkerSummary[] }).workers.map(({ state }) => state));
  });
  await eventually("the watch", () => states.includes("idle"));
  fleet.killRun(before?.run?.id ?? "");
  const after = await fleet.until("coder", ({ state, generation }) => state === "idle" && generation === 2);
  await eventually("the watch to see it come back", () => states.includes("backing-off") && states.at(-1) === "idle");
  watching.kill("SIGTERM");
  // A restart is coming from the first moment on.
  expect(states).not.toContain("stopped");
  expect(after).toMatchObject({ restarts: 1, mode: "tmux", session: { id: before?.session?.id } });
  expect(await fleet.transcript("coder")).toContain("remember this");
  expect(await events(fleet, "worker.backing-off")).toHaveLength(1);
});

it("the prompt is the first turn of the worker's first conversation, and of none after /clear", async () => {
  const fleet = fleetHome(`[workers.coder]\nvendor = "scripted"\nprompt = "hello.md"\n`);
  writeFileSync(join(fleet.project, "hello.md"), "Do the work.");
  await fleet.up();
  await fleet.untilHeard("coder", "Do the work.");
  const before = await fleet.until("coder", ({ state, session }) => state === "idle" && session?.proved === true);
  await fleet.type("coder", "/clear");
  await fleet.until("coder", ({ session }) => session?.provenance === "rotated");
  fleet.killRun(before.run?.id ?? "");
  const after = await fleet.until("coder", ({ state, generation }) => state === "idle" && generation === 2);
  expect(after.session?.id).not.toBe(before.session?.id);
  await fleet.say("coder", "my own words");
  expect(await fleet.transcript("coder")).not.toContain("Do the work.");
});

it("exit 0 is no failure: on-failure leaves it, always starts it again", async () => {
  const fleet = fleetHome(`
[workers.once]
command = ["true"]
[workers.ever]
command = ["sh", "-c", "sleep 0.1"]
restart = "always"
`);
  await fleet.up();
  await fleet.until("ever", ({ restarts }) => restarts >= 1);
  expect(byName(await fleet.workers()).once).toMatchObject({ state: "stopped", restarts: 0, generation: 1 });
});

it("a worker that was stopped or taken over is left alone, until up", async () => {
  const fleet = fleetHome(`
[defaults]
vendor = "scripted"
restart = "always"
[workers.coder]
[workers.planner]
`);
  await fleet.up();
  await fleet.untilIdle();
  expect(await fleet.perdure(["stop", "coder"])).toMatchObject({ code: 0 });
  expect(await fleet.perdure(["takeover", "planner"])).toMatchObject({ code: 0 });
  await fleet.until("planner", ({ state }) => state === "on-hold");
  const now = byName(await fleet.workers());
  expect(now.coder).toMatchObject({ state: "stopped", restarts: 0, lastEnd: { reason: "stopped" } });
  expect(now.planner).toMatchObject({ restarts: 0, attention: expect.stringContaining("taken over") });
  expect(await fleet.up()).toMatchObject({ started: 2, refused: 0 });
});

it("a program that is not there is held with the reason; the others come up", async () => {
  const fleet = fleetHome(`
[workers.coder]
vendor = "scripted"
[workers.ghost]
command = ["no-such-program"]
`);
  const { workers, ...result } = await fleet.up();
  expect(result).toMatchObject({ started: 1, refused: 1 });
  expect(byName(workers).ghost).toMatchObject({
    outcome: "refused",
    reason: expect.stringContaining("no-such-program"),
  });
  expect(byName(await fleet.workers()).ghost).toMatchObject({ state: "on-hold" });
  expect(await fleet.perdure(["up"])).toMatchObject({ code: 5 });
});

it("down ends what ignores TERM, by KILL, and says so; logs tells what it left", async () => {
  const fleet = fleetHome(
    `[workers.deaf]\ncommand = ["sh", "-c", "trap '' TERM HUP; echo I hear nothing; while :; do sleep 1; done"]\n`,
  );
  await fleet.up();
  await fleet.until("deaf", ({ run }) => run !== null);
  expect(await fleet.down("--kill-after", "1")).toMatchObject({ workers: [{ name: "deaf", outcome: "killed" }] });
  expect(await fleet.logs("deaf")).toMatchObject({ code: 0, stdout: expect.stringContaining("I hear nothing") });
  expect(fleet.processes().filter(({ command }) => command === "sleep" || command === "tmux: server")).toEqual([]);
});

it("restart brings a worker back in its pane, and with --fresh in a new conversation", async () => {
  const fleet = fleetHome(`[workers.coder]\nvendor = "scripted"\n`);
  await fleet.up();
  const [before] = await fleet.untilIdle();
  const pane = (await fleet.pane("coder")).pane;
  await fleet.say("coder", "hello");
  expect(await fleet.perdure(["restart", "coder"])).toMatchObject({ code: 0 });
  expect(await fleet.untilIdle()).toMatchObject([{ generation: 2, session: { id: before?.session?.id } }]);
  expect((await fleet.pane("coder")).session).toBe("api");
  await fleet.perdure(["restart", "coder", "--fresh"]);
  const [fresh] = await fleet.untilIdle();
  expect(fresh?.session?.id).not.toBe(before?.session?.id);
  expect(pane).toMatch(/^%\d+$/);
});

it("run of a name that only the file knows starts it as the file says, once that is trusted", async () => {
  const fleet = fleetHome(`[workers.coder]\nvendor = "scripted"\nenv = { COLOUR = "blue" }\n`);
  const refused = await fleet.perdure(["run", "coder"]);
  expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining("perdure trust") });
  await fleet.perdure(["trust", "--yes"]);
  const run = await fleet.perdure(["run", "coder"]);
  expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining("new scripted conversation") });
  expect(await fleet.show("coder")).toMatchObject({
    vendor: "scripted",
    environment: expect.arrayContaining(["COLOUR"]),
  });
});

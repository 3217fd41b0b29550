import { expect, it } from "vitest";
import { hintText } from "../../../src/protocol/hint.ts";
import { byName, fleetHome } from "../../support/fleet-home.ts";

it("an agent that says it has no login, or no budget left, is held with its words: 0 restarts, until up", async () => {
  const fleet = fleetHome(`
[defaults]
vendor = "scripted"
restart = "always"
[workers.coder]
[workers.planner]
[workers.plain]
command = ["sh", "-c", "echo Invalid API key; exit 1"]
`);
  await fleet.up();
  await fleet.until("coder", ({ state }) => state === "idle");
  await fleet.until("planner", ({ state }) => state === "idle");
  await fleet.type("coder", "/login");
  await fleet.type("planner", "/limit");
  for (const name of ["coder", "planner", "plain"]) await fleet.until(name, ({ state }) => state === "on-hold");
  const held = byName(await fleet.workers());
  expect(held.coder).toMatchObject({ restarts: 0, generation: 1, attention: expect.stringContaining("Not logged in") });
  expect(held.planner).toMatchObject({ restarts: 0, generation: 1, attention: expect.stringContaining("limit") });
  expect(held.plain).toMatchObject({ restarts: 0, generation: 1, attention: expect.stringContaining("API key") });

  const login = `perdure up coder, then log in there: perdure attach coder`;
  expect([held.coder, held.planner].map((each) => hintText(each?.next ?? []))).toEqual([login, null]);

  // A daemon that comes back later does not think otherwise.
  await fleet.perdure(["daemon", "stop"]);
  expect(byName(await fleet.workers()).coder).toMatchObject({ state: "on-hold", generation: 1 });
  expect(await fleet.up("coder")).toMatchObject({ started: 1 });
  await fleet.until("coder", ({ state, generation }) => state === "idle" && generation === 2);
});

it("a worker that asks for permission shows as blocked, and events tell of it", async () => {
  const fleet = fleetHome(`[workers.coder]\nvendor = "scripted"\n`);
  await fleet.up();
  await fleet.untilIdle();
  await fleet.type("coder", "/permission");
  expect(await fleet.until("coder", ({ state }) => state === "blocked")).toMatchObject({ name: "coder" });
  await fleet.type("coder", "y");
  await fleet.until("coder", ({ state }) => state === "idle");
  const { stdout } = await fleet.perdure(["events", "--json"]);
  expect(stdout).toContain('"worker.attention"');
});

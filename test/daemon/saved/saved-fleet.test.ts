import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { UpItem } from "../../../src/protocol/records/fleet.ts";
import { TurnHome } from "../../support/turn-home.ts";
import { byName, fleetHome, type FleetHome } from "../../support/fleet-home.ts";

const TWO = `
[defaults]
vendor = "scripted"
[workers.coder]
[workers.planner]
`;

async function conversation(fleet: FleetHome, name: string): Promise<string> {
  return byName(await fleet.untilIdle())[name]?.session?.id ?? "";
}

it("up --session, /clear, down, another session, and back: each in friday's latest conversation", async () => {
  const fleet = fleetHome(TWO);
  expect(await fleet.up("--session", "friday")).toMatchObject({ started: 2, session: "friday" });
  const cleared = await conversation(fleet, "coder");
  await fleet.say("coder", "before the clear");
  await fleet.say("planner", "friday's plan");
  await fleet.type("coder", "/clear");
  await fleet.until("coder", ({ session }) => session?.id !== cleared);
  await fleet.say("coder", "after the clear");
  const friday = { coder: await conversation(fleet, "coder"), planner: await conversation(fleet, "planner") };
  await fleet.down();

  expect(await fleet.up("--session", "other")).toMatchObject({ started: 2, session: "other" });
  const other = { coder: await conversation(fleet, "coder"), planner: await conversation(fleet, "planner") };
  expect(Object.values(friday)).not.toContain(other.coder);
  expect(Object.values(friday)).not.toContain(other.planner);
  await fleet.say("coder", "another day");
  await fleet.down();

  expect(await fleet.up("--resume", "friday")).toMatchObject({ started: 2, refused: 0, session: "friday" });
  expect(await conversation(fleet, "coder")).toBe(friday.coder);
  expect(await conversation(fleet, "planner")).toBe(friday.planner);
  expect(await fleet.transcript("coder")).toContain("after the clear");
  expect(await fleet.transcript("coder")).not.toContain("another day");
  await fleet.down();
  // `up` alone goes on with the active one.
  await fleet.up();
  expect(await conversation(fleet, "planner")).toBe(friday.planner);
});

it("with one damaged conversation nothing starts: exit 5 and every reason; --allow-fresh lets that worker begin anew", async () => {
  const fleet = fleetHome(TWO);
  await fleet.up("--session", "friday");
  const before = { coder: await conversation(fleet, "coder"), planner: await conversation(fleet, "planner") };
  await fleet.say("coder", "something");
  await fleet.say("planner", "something else");
  const file = await fleet.transcriptOf("coder");
  await fleet.down();
  const whole = readFileSync(file, "utf8");
  writeFileSync(file, whole.replace("something", "SOMETHING"));

  const refused = await fleet.perdure(["up", "--resume", "friday"]);
  expect(refused.code).toBe(5);
  expect(refused.stderr).toContain("coder:");
  expect(refused.stderr).not.toContain("planner:");
  for (const worker of await fleet.workers()) expect(worker).toMatchObject({ state: "stopped", generation: 1 });

  expect(await fleet.up("--resume", "friday", "--allow-fresh", "coder")).toMatchObject({ started: 2, refused: 0 });
  expect(await conversation(fleet, "planner")).toBe(before.planner);
  expect(await conversation(fleet, "coder")).not.toBe(before.coder);
});

it("while its workers run in one saved session, another one is refused, with what to do", async () => {
  const fleet = fleetHome(TWO);
  await fleet.up("--session", "friday");
  await fleet.untilIdle();
  const refused = await fleet.perdure(["up", "--session", "other"]);
  expect(refused).toMatchObject({ code: 5 });
  expect(refused.stderr).toContain("perdure down");
  expect(await fleet.perdure(["up", "--resume", "firday"])).toMatchObject({ code: 3 });
});

it("A6: a copy that is missing or damaged keeps no worker from its saved conversation, and another copy is made", async () => {
  const fleet = fleetHome(TWO);
  await fleet.up("--session", "friday");
  const friday = { coder: await conversation(fleet, "coder"), planner: await conversation(fleet, "planner") };
  await fleet.say("coder", "something");
  await fleet.say("planner", "something else");
  await fleet.down();
  await fleet.perdure(["daemon", "stop"]);
  const copies = globSync("custody/*/transcript", { cwd: fleet.state }).map((path) => join(fleet.state, path));
  expect(copies).toHaveLength(2);
  rmSync(copies[0] ?? "");
  writeFileSync(copies[1] ?? "", "x");

  expect(await fleet.up("--resume", "friday")).toMatchObject({ started: 2, refused: 0 });
  expect(await conversation(fleet, "coder")).toBe(friday.coder);
  expect(await conversation(fleet, "planner")).toBe(friday.planner);
  const copied = copies.map((file) => readFileSync(file, "utf8"));
  const said = copied.map((text) => /something( else)?/.exec(text)?.[0] ?? "nothing");
  expect(said.toSorted()).toEqual(["something", "something else"]);
});

it("A6: what is refused does not claim that nothing was started while others are supervised, and offers what can be done", async () => {
  const fleet = fleetHome(TWO);
  await fleet.up("--session", "friday");
  await fleet.say("coder", "something");
  const file = await fleet.transcriptOf("coder");
  await fleet.down("coder");
  writeFileSync(file, readFileSync(file, "utf8").replace("something", "SOMETHING"));
  const refused = await fleet.perdure(["up", "--resume", "friday"]);
  expect(refused.code).toBe(5);
  expect(refused.stderr).not.toContain("; nothing was started");
  expect(refused.stderr).toContain("supervised as before: planner");
  expect(refused.stderr).toContain("--allow-fresh coder");
});

it("a worker of turns is said to be in the conversation of the saved session, and its next turn is in it", async () => {
  const home = new TurnHome("[workers.w]\n");
  try {
    await home.up();
    await home.ask("w", "one");
    await home.untilAsleep("w");
    const [saved] = (await home.history("w")).sessions;
    await home.perdure(["save", "friday"]);
    await home.perdure(["restart", "w", "--fresh"]);
    await home.ask("w", "two");
    await home.untilAsleep("w");

    const { workers } = await home.json<{ workers: UpItem[] }>(["up", "--yes", "--resume", "friday"]);
    expect(workers[0]).toMatchObject({ outcome: "asleep", session: { id: saved?.id } });
    expect((await home.ask("w", "three")).stdout).toContain("turns=2");
  } finally {
    await home.clear();
  }
});

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { WorkerSummary } from "../../../src/protocol/records/worker.ts";
import { eventually } from "../../support/check.ts";
import { fleetHome, type FleetHome } from "../../support/fleet-home.ts";
import { makeRepository, moveProjectOf } from "../../support/moved-home.ts";
import { InstalledPersona } from "../../support/persona.ts";

const FLEET = `
[workers.coder]
vendor = "claude"
restart = "always"
[workers.server]
command = ["sleep", "1000"]
`;

/** A fleet of one claude that has said something and was brought down. */
async function fleetWithHistory(): Promise<FleetHome> {
  const fleet = fleetHome(FLEET);
  const { home } = new InstalledPersona(fleet, "claude");
  makeRepository(home);
  await fleet.up();
  await fleet.until("coder", ({ state, session }) => state === "idle" && session?.proved === true);
  await fleet.type("coder", "the secret");
  await eventually("the secret to be written", async () => {
    const file = (await fleet.show("coder")).conversation?.transcript?.file;
    return file !== undefined && readFileSync(file, "utf8").includes("the secret");
  });
  await fleet.down();
  return fleet;
}

it("A4: a member whose conversation the vendor's program refuses is unresumable with its words, and is not started again", async () => {
  const fleet = await fleetWithHistory();
  const program = join(fleet.dir, "bin", "claude");
  renameSync(program, `${program}.good`);
  writeFileSync(program, '#!/bin/sh\necho "No conversation found with session ID: $2" >&2\nexit 1\n', { mode: 0o755 });
  await fleet.up();
  const refused = await fleet.until("coder", ({ state }) => state === "unresumable");
  expect(refused).toMatchObject({ restarts: 0, generation: 2 });
  expect(refused.attention).toContain("No conversation found with session ID: ");
  expect(await fleet.perdure(["drill", "coder"])).toMatchObject({ code: 5 });

  // A good start takes it back.
  renameSync(`${program}.good`, program);
  await fleet.up();
  await fleet.until("coder", ({ state, session }) => state === "idle" && session?.proved === true);
  expect(await fleet.perdure(["drill", "coder"])).toMatchObject({ code: 0 });
});

it("A4: up in a moved repository starts no member anew, and brings it back after project move", async () => {
  const fleet = await fleetWithHistory();
  const { session } = await fleet.show("coder");
  const cwd = moveProjectOf(fleet);
  const refused = await fleet.perdure(["up", "--yes"], { cwd });
  expect(refused.code).toBe(5);
  expect(refused.stderr).toContain("perdure project move api");
  const { workers } = await fleet.json<{ workers: WorkerSummary[] }>(["ls", "--all"], { cwd });
  expect(workers.map(({ address, run }) => [address, run])).toEqual([
    ["api/coder", null],
    ["api/server", null],
  ]);
  // Whoever looks for the workers is told, too.
  for (const words of [["show", "coder"], ["drill"], ["down"]]) {
    expect((await fleet.perdure(words, { cwd })).stderr).toContain("perdure project move api");
  }

  expect(await fleet.perdure(["project", "move", "api"], { cwd })).toMatchObject({ code: 0 });
  expect(await fleet.perdure(["up", "--yes"], { cwd })).toMatchObject({ code: 0 });
  const back = await fleet.json<{ session: { id: string } }>(["show", "coder"], { cwd });
  expect(back.session.id).toBe(session?.id);
});

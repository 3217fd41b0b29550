import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { eventually } from "../../support/check.ts";
import { fleetHome, type FleetHome } from "../../support/fleet-home.ts";

const FLEET = `[defaults]
vendor = "scripted"
[workers.zed]
[workers.left]
group = "pair"
[workers.right]
group = "pair"
[workers.abe]
`;

function tmux(fleet: FleetHome, ...args: string[]): string {
  return execFileSync("tmux", ["-S", join(fleet.state, "tmux"), ...args], { encoding: "utf8" }).trim();
}

function windows(fleet: FleetHome): string[] {
  return tmux(fleet, "list-windows", "-t", "=api:", "-F", "#{window_index}:#{window_name}").split("\n");
}

/** The places that the store has, by worker. */
function recorded(fleet: FleetHome): Record<string, number> {
  const db = new DatabaseSync(join(fleet.state, "perdure.db"), { readOnly: true });
  try {
    const rows = db.prepare("SELECT name, window_index AS place FROM workers").all();
    return Object.fromEntries(rows.map(({ name, place }) => [String(name), Number(place)]));
  } finally {
    db.close();
  }
}

it("windows are in the order of the fleet file, and come back where a person has moved them", async () => {
  const fleet = fleetHome(FLEET);
  await fleet.up();
  await fleet.untilIdle();
  expect(windows(fleet)).toEqual(["1:zed", "2:pair", "3:abe"]);
  tmux(fleet, "swap-window", "-s", "=api:1", "-t", "=api:3");
  tmux(fleet, "move-window", "-s", "=api:2", "-t", "=api:7");
  await eventually("the places in the store", () => recorded(fleet).left === 7 && recorded(fleet).zed === 3);
  expect(recorded(fleet)).toEqual({ zed: 3, left: 7, right: 7, abe: 1 });

  await fleet.killEverything();
  await fleet.up();
  await fleet.untilIdle();
  expect(windows(fleet)).toEqual(["1:abe", "3:zed", "7:pair"]);

  // One that comes alone, and a new one, take their own places.
  await fleet.down();
  fleet.write(`${FLEET}[workers.late]\n`);
  await fleet.up("late");
  expect(windows(fleet)).toEqual(["8:late"]);
  await fleet.up("zed");
  await fleet.up();
  await fleet.untilIdle();
  expect(windows(fleet)).toEqual(["1:abe", "3:zed", "7:pair", "8:late"]);
});

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EventRecord } from "../../src/protocol/records/admin.ts";
import type { RunRecord } from "../../src/protocol/records/run.ts";
import { RESTART_BUDGET } from "../../src/limits/index.ts";
import { FleetHome } from "../support/fleet-home.ts";
import { campaign, seeded } from "../support/campaign.ts";
import { RestartModel, type RestartTally } from "./11-restart-model.ts";
import { check, eventually } from "../support/check.ts";

interface Size {
  models: number;
  ends: number;
  workers: number;
}

/** The first wait, in place of a second: four waits, doubled each time, are half a second. */
const WAIT_MS = "30";
const SHOWN_WITHIN_MS = 1_000;

export const crashLoop = campaign<Size>({
  number: 11,
  promise: "a crash loop is bounded and visible",
  reduced: { models: 1_000, ends: 60, workers: 3 },
  full: { models: 20_000, ends: 200, workers: 40 },
  async run(size, seed) {
    const tally: RestartTally = {
      starts: 0,
      again: 0,
      crashLooping: 0,
      left: 0,
      onHold: 0,
      stalls: 0,
      daemons: 0,
      persons: 0,
    };
    for (let model = 0; model < size.models; model++) {
      new RestartModel(seeded(seed + model), tally).play(size.ends);
      const begun = RestartModel.exitsAtOnce(seeded(seed + model), tally);
      check(begun === RESTART_BUDGET, `${begun} starts in ten minutes of an agent that exits at once`);
    }
    return { models: size.models, ...tally, ...(await realFleet(size.workers)) };
  },
});

/** Every worker's program writes down when it ends, and does so at once unless a file says that it is well. */
function fleetFile(dir: string, workers: number): string {
  const program = join(dir, "agent");
  const words = `date +%s%3N >> '${dir}/'$PERDURE_NAME.ends; [ ! -e '${dir}/well' ] || exec sleep 600; exit 3`;
  writeFileSync(program, `#!/bin/sh\n${words}\n`, { mode: 0o755 });
  return `project = "api"\n[workers.loop]\ncount = ${workers}\ncommand = ["${program}"]\n`;
}

async function realFleet(workers: number): Promise<Record<string, number>> {
  const fleet = new FleetHome("", { PERDURE_RESTART_WAIT_MS: WAIT_MS });
  try {
    fleet.write(fleetFile(fleet.dir, workers));
    const names = Array.from({ length: workers }, (_, n) => (workers === 1 ? "loop" : `loop-${n + 1}`));
    await fleet.up();
    await allLooping(fleet, names);
    const slowest = await checkLoops(fleet, names, RESTART_BUDGET);

    // A person's word is one more chance, with a budget of its own.
    await fleet.up();
    await eventually("every worker to be tried again", async () => {
      return (await starts(fleet, names)).every((count) => count >= 2 * RESTART_BUDGET);
    });
    await allLooping(fleet, names);
    const again = await checkLoops(fleet, names, 2 * RESTART_BUDGET);

    writeFileSync(join(fleet.dir, "well"), "");
    const [first = ""] = names;
    await fleet.up(first);
    await fleet.until(first, ({ state, attention }) => state === "running" && attention === null);
    const counts = await starts(fleet, names);
    check(counts[0] === 2 * RESTART_BUDGET + 1, `${first} was started ${counts[0]} times`);
    check(
      counts.slice(1).every((count) => count === 2 * RESTART_BUDGET),
      `others were started as well: ${counts.join(" ")}`,
    );
    return {
      workers,
      realStarts: counts.reduce((sum, count) => sum + count, 0),
      shownMsMax: Math.max(slowest, again),
      beyondBudget: 0,
    };
  } finally {
    await fleet.clear();
  }
}

async function allLooping(fleet: FleetHome, names: string[]): Promise<void> {
  await eventually("every worker to be crash-looping", async () => {
    const workers = await fleet.workers();
    return workers.length === names.length && workers.every(({ state }) => state === "crash-looping");
  });
}

/** Each was started as often as it may, tells why it is not any more, and told so soon enough. The longest that took. */
async function checkLoops(fleet: FleetHome, names: string[], wanted: number): Promise<number> {
  const { events } = await readEvents(fleet);
  for (const { name, attention } of await fleet.workers()) {
    check(attention?.includes(`started ${RESTART_BUDGET} times`) === true, `${name} says: ${attention}`);
  }
  const counts = await starts(fleet, names);
  check(
    counts.every((count) => count === wanted),
    `started ${counts.join(" ")} times instead of ${wanted}`,
  );
  return Math.max(
    ...names.map((name) => {
      const ends = readFileSync(join(fleet.dir, `${name}.ends`), "utf8")
        .trim()
        .split("\n")
        .map(Number);
      check(ends.length === wanted, `the program of ${name} ran ${ends.length} times`);
      const told = events.findLast(({ type, worker }) => type === "worker.crash-looping" && worker === name);
      const tookMs = Date.parse(told?.at ?? "") - (ends.at(-1) ?? Number.NaN);
      check(tookMs <= SHOWN_WITHIN_MS, `${name} was shown to be crash-looping after ${tookMs} ms`);
      return tookMs;
    }),
  );
}

async function starts(fleet: FleetHome, names: string[]): Promise<number[]> {
  const counts: number[] = [];
  for (const name of names) counts.push((await fleet.json<{ runs: RunRecord[] }>(["history", name])).runs.length);
  return counts;
}

async function readEvents(fleet: FleetHome): Promise<{ events: EventRecord[] }> {
  const { stdout } = await fleet.perdure(["events", "--json", "--limit", "20000"]);
  const lines = stdout.trim().split("\n");
  return { events: lines.map((line) => JSON.parse(line) as EventRecord) };
}

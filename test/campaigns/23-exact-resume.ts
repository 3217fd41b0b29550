import { campaign, seeded } from "../support/campaign.ts";
import type { Home } from "../support/home.ts";
import { LookAlike } from "./23-look-alike.ts";
import { newTally, planner, type Tally } from "./23-plan.ts";
import { raceRuns } from "./23-two-runs.ts";
import { check } from "../support/check.ts";
import { InstalledPersona } from "../support/persona.ts";
import { VENDORS, type Vendor } from "../support/persona-facts.ts";
import { inHome } from "../support/in-home.ts";

interface Size {
  workers: number;
  rounds: number;
  /** Resumed at the same time; all of a round's workers are alive together in the end. */
  atOnce: number;
  races: number;
}

export const exactResume = campaign<Size>({
  number: 23,
  promise: "exact resume with look-alikes",
  reduced: { workers: 4, rounds: 2, atOnce: 4, races: 30 },
  full: { workers: 20, rounds: 50, atOnce: 6, races: 1_000 },
  async run(size, seed) {
    const tally = newTally();
    for (const vendor of VENDORS) await inHome((home) => play(home, vendor, size, seed, tally));
    const races = await inHome((home) => raceRuns(home, size.races));
    const { wrongConversations, silentFreshStarts, ...counted } = {
      wrongConversations: 0,
      silentFreshStarts: 0,
      ...tally,
    };
    return { personas: VENDORS.length, ...counted, wrongConversations, silentFreshStarts, ...races };
  },
});

async function play(home: Home, vendor: Vendor, size: Size, seed: number, tally: Tally): Promise<void> {
  const misledBefore = tally.misled;
  const random = seeded(seed);
  const persona = new InstalledPersona(home, vendor);
  const folder = { tally, owners: new Map<string, string>() };
  const workers = Array.from({ length: size.workers }, (_, index) => new LookAlike(persona, `w${index}`, folder));
  const plan = planner(random);
  for (let round = 0; round < size.rounds; round++) {
    const plans = new Map(workers.map((worker) => [worker, plan()]));
    const [risers, fallers] = [shuffled(random, [...plans]), shuffled(random, [...plans])];
    await inShifts(risers, size.atOnce, ([worker, its]) => worker.comeBack(round, its));
    await inShifts(fallers, size.atOnce, ([worker, its]) => worker.die(round, its));
  }
  for (const worker of workers) worker.checkUnmixed();
  const alarms = {
    "session.mismatch": tally.misled - misledBefore,
    "session.opened-elsewhere": 0,
    "session.foreign": 0,
  };
  for (const [alarm, expected] of Object.entries(alarms)) {
    const events = await persona.events(alarm);
    check(events.length === expected, () => `${vendor}: ${events.length} ${alarm}, first ${JSON.stringify(events[0])}`);
  }
}

function shuffled<T>(random: () => number, items: readonly T[]): T[] {
  const drawn = items.map((item) => ({ item, lot: random() }));
  return drawn.toSorted((a, b) => a.lot - b.lot).map(({ item }) => item);
}

async function inShifts<T>(items: T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const hand = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, hand));
}

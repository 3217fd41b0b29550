import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { Case } from "../case.ts";
import { headlessCommand, runIn } from "../harness/commands.ts";
import type { LiveSetup } from "../setup.ts";
import { TurnWorker } from "../turn-worker.ts";

/** Words, because opencode fails at one that is a number. */
const ROUNDS = ["one", "two", "three", "four", "five", "six", "seven"];

export const turnBesideBare: Case = {
  letter: "dg",
  title: "the time from a question to its answer by a turn, beside that of the bare program without a terminal",
  modes: ["headless"],
  elsewhere: "a turn has no terminal",
  // The benchmark plays it.
  core: false,
  async run(setup) {
    const worker = await TurnWorker.up(setup, "w");
    const id = randomUUID();
    const since = setup.model.requests.length;
    await bare(setup, setup.vendor.session.begin?.(id) ?? [], "by hand, first");
    const begun = await setup.model.until(({ index, auxiliary }) => index >= since && !auxiliary, { timeoutMs: 0 });
    const session = setup.vendor.session.resume(setup.sessionOf(begun) ?? id);
    await turn(worker, 0);
    // In turn, each in a conversation that grows like the other's.
    for (let round = 1; round <= ROUNDS.length; round++) {
      const bareMs = await bare(setup, session, `by hand, ${ROUNDS[round - 1]}`);
      setup.notes.push(`bareMs=${bareMs.toFixed(1)} turnMs=${(await turn(worker, round)).toFixed(1)}`);
    }
    assert.equal((await worker.history()).runs.length, ROUNDS.length + 1, "each question was a turn");
    await worker.onlySession();
  },
};

/** The milliseconds from the start of the bare program to its end. */
async function bare({ home, vendor }: LiveSetup, session: readonly string[], text: string): Promise<number> {
  const since = performance.now();
  const { code, stdout, stderr } = await runIn(home, headlessCommand(vendor, session, text));
  assert.equal(code, 0, `${text}: ${stdout}${stderr}`);
  return performance.now() - since;
}

/** The milliseconds from the start of `perdure ask` to its end, with the worker asleep before. */
async function turn(worker: TurnWorker, round: number): Promise<number> {
  await worker.until("asleep", ({ state }) => state === "asleep");
  const since = performance.now();
  const { code, stdout, stderr } = await worker.ask(`turn ${round}`, `turn-${round}`);
  assert.equal(code, 0, stderr);
  assert.match(stdout, new RegExp(`^turns=${round + 1} `), "in the same conversation");
  return performance.now() - since;
}

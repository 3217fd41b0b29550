import assert from "node:assert/strict";
import { shellWords } from "../../../src/util/shell-quote.ts";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";
import { headlessCommand } from "../harness/commands.ts";
import { putInFront } from "../program-in-front.ts";

export const secondProcess: Case = {
  letter: "an",
  title: "A1: what a program in front starts behind the worker's own is not where the worker is",
  modes: ["headless"],
  elsewhere: "what is started behind a program that a person has left is the same without a terminal",
  core: true,
  async run(setup) {
    const { vendor } = setup;
    const worker = setup.worker("w");
    const session = await expectTold(setup, worker, await worker.say("one"), ["one"]);

    const [, ...summary] = headlessCommand(vendor, [], "what was done");
    const takeAway = putInFront(setup, `real "$@"; real ${shellWords(summary)}`, "two");
    const { code } = await setup.perdure(["run", "w", "--", ...headlessCommand(vendor, [], "two")]);
    await worker.ended();
    await setup.perdure(["drill", "w"]);
    const { runs } = await worker.history();
    const { proved, evidence } = runs[0]?.sessions[0] ?? {};
    setup.notes.push(`exit ${code}, ${proved}: ${evidence}`);
    assert.deepEqual(
      runs[0]?.sessions.map(({ id }) => id),
      [session],
      "followed",
    );
    assert.equal(code === 0, proved === true, `exit ${code}, and ${proved}`);
    assert.equal(await worker.session(), session, "carried on");

    takeAway();
    await expectTold(setup, worker, await worker.say("three"), ["one", "two", "three"]);
  },
};

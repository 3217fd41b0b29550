import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { expectProved, expectRefused, expectTold } from "../expect.ts";

export const secondStart: Case = {
  letter: "f",
  title: "a second start: refused, taken over",
  modes: ["headless", "tui"],
  core: true,
  async run(setup) {
    const worker = setup.worker("w");
    const session = await expectTold(setup, worker, await worker.say("one"), ["one"]);
    await worker.kill();

    await worker.hold("two");
    await expectRefused(setup, worker, { code: 4, says: ["is held by run", "perdure takeover"] });

    const taken = await setup.perdure(["takeover", "w"]);
    assert.equal(taken.code, 0, taken.stderr);
    await worker.ended();
    const { runs } = await worker.history();
    assert.equal(runs[0]?.reason, "displaced");

    const request = await worker.say("three");
    assert.deepEqual([request.turns[0], request.turns.at(-1)], ["one", "three"]);
    assert.equal(await expectProved(setup, worker, request), session);
  },
};

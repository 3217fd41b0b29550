import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { expectProved } from "../expect.ts";

export const killedBeforeFirstAnswer: Case = {
  letter: "b",
  title: "killed before its first answer, comes back usable",
  modes: ["headless", "tui"],
  core: true,
  async run(setup) {
    const worker = setup.worker("w");
    await worker.open();
    const session = await worker.session();
    await worker.kill();

    await worker.open();
    await worker.kill();

    const request = await worker.say("at last");
    assert.equal(request.turns.at(-1), "at last");
    const spoken = await expectProved(setup, worker, request);
    const { spendsIds } = setup.traits;
    // Without a terminal something was said in it.
    if (spendsIds !== undefined && setup.mode === "tui") setup.notes.push(spendsIds);
    else assert.equal(spoken, session, "the same conversation as at the first start");
    await worker.kill();

    const next = await worker.say("and once more");
    assert.deepEqual(next.turns.slice(-2), ["at last", "and once more"]);
    assert.equal(await expectProved(setup, worker, next), spoken);
  },
};

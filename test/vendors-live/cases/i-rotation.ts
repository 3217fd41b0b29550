import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";

export const rotation: Case = {
  letter: "i",
  title: "/clear, /new: the worker goes along",
  modes: ["tui"],
  elsewhere: "only in a terminal is there somebody to type /clear",
  core: true,
  async run(setup) {
    const worker = setup.worker("w");
    const first = await expectTold(setup, worker, await worker.say("one"), ["one"]);
    await worker.renew();
    const { renewsAtPrompt } = setup.traits;
    if (renewsAtPrompt === null) await worker.until("in another conversation", ({ session }) => session?.id !== first);
    const second = await expectTold(setup, worker, await worker.say("two"), ["two"]);
    await worker.kill();

    assert.equal(await expectTold(setup, worker, await worker.say("three"), ["two", "three"]), second);
    const { sessions } = await worker.history();
    const lineage = sessions.map(({ id, rotatedFrom, current }) => ({ id, rotatedFrom, current }));
    assert.deepEqual(lineage, [
      { id: second, rotatedFrom: first, current: true },
      { id: first, rotatedFrom: null, current: false },
    ]);

    if (renewsAtPrompt !== null) {
      setup.notes.push(renewsAtPrompt);
      return;
    }
    // Killed before anything was said in it: nothing is lost, and the old ones do not come back.
    await worker.renew();
    await worker.until("in another conversation", ({ session }) => session?.id !== second);
    await worker.kill();
    await expectTold(setup, worker, await worker.say("four"), ["four"]);
  },
};

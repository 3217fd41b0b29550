import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { expectProved, entryOf } from "../expect.ts";

export const failedStart: Case = {
  letter: "n",
  title: "a start that fails at once is not proved",
  modes: ["headless"],
  elsewhere: "the program ends before it looks for a terminal",
  core: true,
  async run(setup) {
    const worker = setup.worker("w");
    const { code } = await setup.perdure(["run", "w", "--", setup.vendor.name, "--no-such-option"]);
    assert.ok(code > 0 && code < 128, `the program's own exit code: ${code}`);
    await worker.ended();
    assert.equal(setup.turnRequests().length, 0);
    const { proved, evidence } = entryOf(await worker.history());
    assert.notEqual(proved, true, `proved by: ${evidence}`);

    const request = await worker.say("one");
    assert.deepEqual([...request.turns], ["one"]);
    await expectProved(setup, worker, request);
  },
};

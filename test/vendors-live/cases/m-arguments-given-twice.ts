import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";

export const argumentsGivenTwice: Case = {
  letter: "m",
  title: "what perdure would add, given by the user",
  modes: ["headless", "tui"],
  core: true,
  async run(setup) {
    const args = setup.traits.ours[setup.mode](setup.home.dir);
    const worker = setup.worker("w", { args });
    const session = await expectTold(setup, worker, await worker.say("one"), ["one"]);
    await worker.kill();
    assert.equal(await expectTold(setup, worker, await worker.say("two"), ["one", "two"]), session);
    setup.traits.oursKept?.(setup.home.dir);
  },
};

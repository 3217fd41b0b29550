import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";

export const provider: Case = {
  letter: "o",
  title: "a provider chosen by argument",
  modes: ["headless", "tui"],
  core: true,
  async run(setup) {
    const args = setup.traits.provider?.(setup.model.url) ?? [];
    const worker = setup.worker("w", { args });
    const session = await expectTold(setup, worker, await worker.say("one"), ["one"]);
    await worker.kill();
    assert.equal(await expectTold(setup, worker, await worker.say("two"), ["one", "two"]), session);
  },
};

import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";

export const provider: Case = {
  letter: "o",
  title: "a provider chosen by argument",
  modes: ["headless", "tui"],
  core: true,
  async run(stage) {
    const args = stage.traits.provider?.(stage.model.url) ?? [];
    const worker = stage.worker("w", { args });
    const session = await expectTold(stage, worker, await worker.say("one"), ["one"]);
    await worker.kill();
    assert.equal(await expectTold(stage, worker, await worker.say("two"), ["one", "two"]), session);
  },
};

import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";

export const oursToo: Case = {
  letter: "m",
  title: "what perdure would add, given by the user",
  modes: ["headless", "tui"],
  core: true,
  async run(stage) {
    const args = stage.traits.ours[stage.mode](stage.home.dir);
    const worker = stage.worker("w", { args });
    const session = await expectTold(stage, worker, await worker.say("one"), ["one"]);
    await worker.kill();
    assert.equal(await expectTold(stage, worker, await worker.say("two"), ["one", "two"]), session);
    stage.traits.oursKept?.(stage.home.dir);
  },
};

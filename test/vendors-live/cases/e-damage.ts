import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { damages } from "../damage.ts";
import { expectRefused, expectTold } from "../expect.ts";

export const damage: Case = {
  letter: "e",
  title: "without a copy, a lost or damaged transcript is refused, never begun anew",
  modes: ["headless", "tui"],
  core: true,
  async run(stage) {
    const worker = stage.worker("w");
    await worker.say("one");
    const session = await expectTold(stage, worker, await worker.say("two"), ["one", "two"]);
    await worker.kill();

    stage.hideCopies();
    for (const { says, does, undo } of damages(stage, session)) {
      await does();
      const refusal = await expectRefused(stage, worker, { code: 5, says: [says, session, "→", "--fresh"] });
      const { state, attention } = await worker.until("unresumable", (each) => each.state === "unresumable");
      assert.ok(attention?.includes(says), `${state}: ${attention} tells what ${refusal.text} told`);
      await undo();
    }

    const request = await worker.say("three");
    assert.equal(await expectTold(stage, worker, request, ["one", "two", "three"]), session, "put back, it resumes");
  },
};

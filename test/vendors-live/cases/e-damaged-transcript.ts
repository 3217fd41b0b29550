import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { damages } from "../damage.ts";
import { expectRefused, expectTold } from "../expect.ts";

export const damagedTranscript: Case = {
  letter: "e",
  title: "without a copy, a lost or damaged transcript is refused, never begun anew",
  modes: ["headless", "tui"],
  core: true,
  async run(setup) {
    const worker = setup.worker("w");
    await worker.say("one");
    const session = await expectTold(setup, worker, await worker.say("two"), ["one", "two"]);
    await worker.kill();

    setup.hideCopies();
    for (const { says, does, undo } of damages(setup, session)) {
      await does();
      const refusal = await expectRefused(setup, worker, { code: 5, says: [says, session, "→", "--fresh"] });
      const { state, attention } = await worker.until("unresumable", (each) => each.state === "unresumable");
      assert.ok(attention?.includes(says), `${state}: ${attention} tells what ${refusal.text} told`);
      await undo();
    }

    const request = await worker.say("three");
    assert.equal(await expectTold(setup, worker, request, ["one", "two", "three"]), session, "put back, it resumes");
  },
};

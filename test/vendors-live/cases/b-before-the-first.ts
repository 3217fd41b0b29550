import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { expectProved } from "../expect.ts";

export const beforeTheFirst: Case = {
  letter: "b",
  title: "killed before its first answer, comes back usable",
  modes: ["headless", "tui"],
  core: true,
  async run(stage) {
    const worker = stage.worker("w");
    await worker.open();
    const session = await worker.session();
    await worker.kill();

    await worker.open();
    await worker.kill();

    const request = await worker.say("at last");
    assert.equal(request.turns.at(-1), "at last");
    const spoken = await expectProved(stage, worker, request);
    const { spendsIds } = stage.traits;
    // Without a terminal something was said in it.
    if (spendsIds !== undefined && stage.mode === "tui") stage.notes.push(spendsIds);
    else assert.equal(spoken, session, "the same conversation as at the first start");
    await worker.kill();

    const next = await worker.say("and once more");
    assert.deepEqual(next.turns.slice(-2), ["at last", "and once more"]);
    assert.equal(await expectProved(stage, worker, next), spoken);
  },
};

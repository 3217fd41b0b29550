import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";
import { adapterOf } from "../../../src/vendors/index.ts";

export const forkedConversation: Case = {
  letter: "x",
  title: "a branch begins with all that was said, and the stem stays",
  modes: ["headless", "tui"],
  core: false,
  async run(setup) {
    if (adapterOf(setup.vendor.name)?.launch.forks !== true) {
      const refused = await forked(setup);
      assert.equal(refused.code, 5, refused.stderr);
      setup.notes.push(`${setup.vendor.name} has no way to branch under an id of its own: fork says so`);
      return;
    }
    const { code, stderr, stem } = await forked(setup);
    assert.equal(code, 0, stderr);
    const twin = setup.worker("twin");
    const branched = await expectTold(setup, twin, await twin.say("two"), ["one", "two"]);
    assert.notEqual(branched, stem);
    await twin.kill();
    assert.equal(await expectTold(setup, twin, await twin.say("three"), ["one", "two", "three"]), branched);
    await twin.kill();
    const worker = setup.worker("w");
    assert.equal(await expectTold(setup, worker, await worker.say("four"), ["one", "four"]), stem);
  },
};

async function forked(setup: Parameters<Case["run"]>[0]): Promise<{ code: number; stderr: string; stem: string }> {
  const worker = setup.worker("w");
  const stem = await expectTold(setup, worker, await worker.say("one"), ["one"]);
  await worker.kill();
  const { code, stderr } = await setup.perdure(["fork", "w", "twin"]);
  return { code, stderr, stem };
}

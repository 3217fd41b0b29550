import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";
import { adapterOf } from "../../../src/vendors/index.ts";

export const branch: Case = {
  letter: "x",
  title: "a branch begins with all that was said, and the stem stays",
  modes: ["headless", "tui"],
  core: false,
  async run(stage) {
    if (adapterOf(stage.vendor.name)?.launch.forks !== true) {
      const refused = await forked(stage);
      assert.equal(refused.code, 5, refused.stderr);
      stage.notes.push(`${stage.vendor.name} has no way to branch under an id of its own: fork says so`);
      return;
    }
    const { code, stderr, stem } = await forked(stage);
    assert.equal(code, 0, stderr);
    const twin = stage.worker("twin");
    const branched = await expectTold(stage, twin, await twin.say("two"), ["one", "two"]);
    assert.notEqual(branched, stem);
    await twin.kill();
    assert.equal(await expectTold(stage, twin, await twin.say("three"), ["one", "two", "three"]), branched);
    await twin.kill();
    const worker = stage.worker("w");
    assert.equal(await expectTold(stage, worker, await worker.say("four"), ["one", "four"]), stem);
  },
};

async function forked(stage: Parameters<Case["run"]>[0]): Promise<{ code: number; stderr: string; stem: string }> {
  const worker = stage.worker("w");
  const stem = await expectTold(stage, worker, await worker.say("one"), ["one"]);
  await worker.kill();
  const { code, stderr } = await stage.perdure(["fork", "w", "twin"]);
  return { code, stderr, stem };
}

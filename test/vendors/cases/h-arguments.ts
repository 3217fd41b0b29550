import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { processTable } from "../../../src/runtime/process/index.ts";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";
import type { Stage } from "../stage.ts";
import type { Worker } from "../worker.ts";

export const keptArguments: Case = {
  letter: "h",
  title: "model, permissions and the order of arguments survive",
  modes: ["headless", "tui"],
  core: true,
  async run(stage) {
    const { args, model, permissions } = stage.traits.settings;
    const given = args[stage.mode];
    const worker = stage.worker("w", { args: given });
    const first = await worker.say("one");
    await expectTold(stage, worker, first, ["one"]);
    assert.equal(first.model, model);
    await worker.kill();
    const before = await count(worker, permissions);
    assert.ok(before > 0, `${String(permissions)} is written down`);

    const held = await worker.hold("two");
    const resumed = stage.asked().find(({ turns }) => turns.at(-1) === held);
    assert.equal(resumed?.model, model);
    await expectOrder(stage, worker, given);
    stage.model.release();
    if (stage.mode === "headless") await worker.ended();

    const last = await worker.say("three");
    await expectTold(stage, worker, last, ["one", held, "three"]);
    assert.equal(last.model, model);
    assert.ok((await count(worker, permissions)) > before, "written down again by the run that resumed");
  },
};

async function count(worker: Worker, pattern: RegExp): Promise<number> {
  return [...readFileSync(await worker.transcript(), "utf8").matchAll(pattern)].length;
}

/** On the command line of the vendor's process, among ours: the user's arguments in the user's order. */
async function expectOrder(stage: Stage, worker: Worker, given: readonly string[]): Promise<void> {
  const { run } = await worker.detail();
  const table = processTable();
  const lines = stage.home.processesOf(run?.id ?? "").map(({ pid }) => table.argv(pid));
  const session = await worker.session();
  const ofVendor = lines.find(
    (line) => line[0]?.endsWith(`/${stage.vendor.name}`) && line.some((word) => word.endsWith(session)),
  );
  assert.ok(ofVendor, `the vendor's own process: ${JSON.stringify(lines)}`);
  const mine = ofVendor.filter((word) => given.includes(word));
  assert.deepEqual(mine, [...given], ofVendor.join(" "));
}

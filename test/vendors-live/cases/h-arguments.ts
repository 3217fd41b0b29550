import assert from "node:assert/strict";
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
    const { args, model } = stage.traits.settings;
    const given = args[stage.mode];
    const worker = stage.worker("w", { args: given });
    const first = await worker.say("one");
    await expectTold(stage, worker, first, ["one"]);
    assert.equal(first.model, model);
    await worker.kill();
    const before = await count(stage, worker);
    assert.ok(before > 0, "the permissions show");

    const held = await worker.hold("two");
    const resumed = stage.asked().find(({ turns }) => turns.at(-1) === held);
    assert.equal(resumed?.model, model);
    await expectOrder(stage, worker, given);
    stage.model.release();
    if (stage.mode === "headless") await worker.ended();

    const last = await worker.say("three");
    await expectTold(stage, worker, last, ["one", held, "three"]);
    assert.equal(last.model, model);
    assert.ok((await count(stage, worker)) > before, "and again in the run that resumed");
  },
};

/** How often the permissions show, in what is written down or in what the model was told. */
async function count(stage: Stage, worker: Worker): Promise<number> {
  const { permissions, told } = stage.traits.settings;
  const text = told ? JSON.stringify(stage.asked()) : await stage.written(await worker.session());
  return [...text.matchAll(permissions)].length;
}

/** On the command line of the vendor's process, among ours: the user's arguments in the user's order. */
async function expectOrder(stage: Stage, worker: Worker, given: readonly string[]): Promise<void> {
  const { run } = await worker.detail();
  const table = processTable();
  const lines = stage.home.processesOf(run?.id ?? "").map(({ pid }) => table.argv(pid));
  const session = await worker.session();
  const { hidesArguments } = stage.traits;
  // Behind the program: the wrapper has words of its own, and the program's path among them.
  const ofProgram = lines.map((line) => line.slice(line.findIndex((word) => word.endsWith(`/${stage.vendor.name}`))));
  const isOwn = (at: number): boolean => hidesArguments || lines[at]?.includes("perdure-run") === false;
  const ofVendor = ofProgram.find((line, at) => isOwn(at) && line.some((word) => word.includes(session)));
  assert.ok(ofVendor, `the vendor's own process: ${JSON.stringify(lines)}`);
  // The bed may have given the same option before, for a value of its own.
  const mine = ofVendor.slice(ofVendor.lastIndexOf(given[0] ?? "")).filter((word) => given.includes(word));
  assert.deepEqual(mine, [...given], ofVendor.join(" "));
}

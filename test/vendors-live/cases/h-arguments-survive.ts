import assert from "node:assert/strict";
import { processTable } from "../../../src/runtime/process/index.ts";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";
import type { LiveSetup } from "../setup.ts";
import type { Worker } from "../worker.ts";

export const argumentsSurvive: Case = {
  letter: "h",
  title: "model, permissions and the order of arguments survive",
  modes: ["headless", "tui"],
  core: true,
  async run(setup) {
    const { args, model } = setup.traits.settings;
    const given = args[setup.mode];
    const worker = setup.worker("w", { args: given });
    const first = await worker.say("one");
    await expectTold(setup, worker, first, ["one"]);
    assert.equal(first.model, model);
    await worker.kill();
    const before = await count(setup, worker);
    assert.ok(before > 0, "the permissions show");

    const held = await worker.hold("two");
    const resumed = setup.turnRequests().find(({ turns }) => turns.at(-1) === held);
    assert.equal(resumed?.model, model);
    await expectOrder(setup, worker, given);
    setup.model.release();
    if (setup.mode === "headless") await worker.ended();

    const last = await worker.say("three");
    await expectTold(setup, worker, last, ["one", held, "three"]);
    assert.equal(last.model, model);
    assert.ok((await count(setup, worker)) > before, "and again in the run that resumed");
  },
};

/** How often the permissions show, in what is written down or in what the model was told. */
async function count(setup: LiveSetup, worker: Worker): Promise<number> {
  const { permissions, told } = setup.traits.settings;
  const text = told ? JSON.stringify(setup.turnRequests()) : await setup.transcriptOf(await worker.session());
  return [...text.matchAll(permissions)].length;
}

/** On the command line of the vendor's process, among ours: the user's arguments in the user's order. */
async function expectOrder(setup: LiveSetup, worker: Worker, given: readonly string[]): Promise<void> {
  const { run } = await worker.detail();
  const table = processTable();
  const lines = setup.home.processesOf(run?.id ?? "").map(({ pid }) => table.argv(pid));
  const session = await worker.session();
  const { hidesArguments } = setup.traits;
  // Behind the program: the wrapper has words of its own, and the program's path among them.
  const ofProgram = lines.map((line) => line.slice(line.findIndex((word) => word.endsWith(`/${setup.vendor.name}`))));
  const isOwn = (at: number): boolean => hidesArguments || lines[at]?.includes("perdure-run") === false;
  const ofVendor = ofProgram.find((line, at) => isOwn(at) && line.some((word) => word.includes(session)));
  assert.ok(ofVendor, `the vendor's own process: ${JSON.stringify(lines)}`);
  // The harness may have given the same option before, for a value of its own.
  const mine = ofVendor.slice(ofVendor.lastIndexOf(given[0] ?? "")).filter((word) => given.includes(word));
  assert.deepEqual(mine, [...given], ofVendor.join(" "));
}

import assert from "node:assert/strict";
import type { WorkerSummary } from "../../../src/protocol/records/worker.ts";
import type { Case } from "../case.ts";
import { writeFleet } from "../fleet-file.ts";
import { PaneWorker } from "../pane-worker.ts";
import type { LiveSetup } from "../setup.ts";

export const failedTurn: Case = {
  letter: "aj",
  title: "C2: a turn that a login or a limit made fail blocks it, in its own words; killed then, it is on hold",
  modes: ["tui"],
  elsewhere: "a headless run ends with its turn",
  core: true,
  long: true,
  async run(setup) {
    const { failures } = setup.traits;
    Object.assign(setup.home.env, failures.env);
    writeFleet(setup, setup.home.project, ["w"], null);
    await setup.home.json(["up", "--yes"]);
    const worker = new PaneWorker(setup, "w", {});
    await worker.say("one");
    await blockedBy(worker, "401", failures.refused);
    // The next turn goes well, and nothing is left of it.
    await worker.say("two 401");
    await worker.until("over it", ({ state, attention }) => state === "idle" && attention === null);
    if (failures.limited !== null) await blockedBy(worker, failures.limited.directive, failures.limited.says);
    else await blockedBy(worker, "401", failures.refused);
    await killedIsOnHold(setup, worker);
    if (failures.withoutLogin) await withoutLogin(setup, failures.withoutLogin);
  },
};

async function blockedBy(worker: PaneWorker, directive: string, says: RegExp): Promise<WorkerSummary> {
  await worker.fail(directive);
  return worker.until(
    `blocked by ${directive}`,
    ({ state, attention }) => state === "blocked" && says.test(attention ?? ""),
  );
}

/** A worker that was killed then is not started again for that reason, and comes back by `up`, at rest. */
async function killedIsOnHold(setup: LiveSetup, worker: PaneWorker): Promise<void> {
  const { attention: words, generation } = await worker.detail();
  await worker.kill();
  const held = await worker.until("on hold", ({ state }) => state === "on-hold");
  assert.equal(held.attention, words);
  assert.equal(held.generation, generation, "it was not started again");
  await setup.home.json(["up", "--yes"]);
  await worker.open();
  await worker.until("at rest again, with its failure on the screen", ({ state }) => state === "idle");
}

async function withoutLogin(setup: LiveSetup, { unset, says }: { unset: string; says: RegExp }): Promise<void> {
  await setup.home.json(["down", "--kill-after", "1"]);
  delete setup.home.env[unset];
  writeFleet(setup, setup.home.project, ["x"], null);
  await setup.home.json(["up", "--yes"]);
  const worker = new PaneWorker(setup, "x", {});
  await blockedBy(worker, "200", says);
  await worker.kill();
  await worker.until("on hold", ({ state, attention }) => state === "on-hold" && says.test(attention ?? ""));
}

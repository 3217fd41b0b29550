import assert from "node:assert/strict";
import { processTable } from "../../../src/runtime/process/index.ts";
import type { Case } from "../case.ts";
import { expectProved, expectRefused, expectTold } from "../expect.ts";
import type { Stage } from "../stage.ts";
import type { Worker } from "../worker.ts";

const FLAGGED_WITHIN_MS = 5_000;

export const second: Case = {
  letter: "f",
  title: "a second process: refused, flagged, taken over",
  modes: ["headless", "tui"],
  core: true,
  async run(stage) {
    const worker = stage.worker("w");
    const session = await expectTold(stage, worker, await worker.say("one"), ["one"]);
    await worker.kill();

    const stranger = await stage.stranger(session, "a stranger's", "one");
    assert.ok(stranger.admitted, "nobody else has it open");
    const { text } = await expectRefused(stage, worker, { code: 5, says: ["is open in another process", session] });
    expectPid(text, session);
    await stranger.leave();

    await worker.hold("two");
    await expectRefused(stage, worker, { code: 4, says: ["is held by run", "perdure takeover"] });
    await expectFlag(stage, worker, session);

    const taken = await stage.perdure(["takeover", "w"]);
    assert.equal(taken.code, 0, taken.stderr);
    await worker.ended();
    const { runs } = await worker.history();
    assert.equal(runs[0]?.reason, "displaced");

    const request = await worker.say("three");
    assert.deepEqual([request.turns[0], request.turns.at(-1)], ["one", "three"]);
    assert.equal(await expectProved(stage, worker, request), session);
  },
};

/** The pid it names is the stranger's: a live process on this conversation that is none of ours. */
function expectPid(text: string, session: string): void {
  const pid = Number(/pid (\d+)/.exec(text)?.[1]);
  const table = processTable();
  assert.ok(table.argv(pid).join(" ").includes(session), `pid ${pid} is on ${session}: ${table.argv(pid).join(" ")}`);
  assert.equal(table.variable(pid, "PERDURE_RUN"), null);
}

async function expectFlag(stage: Stage, worker: Worker, session: string): Promise<void> {
  const stranger = await stage.stranger(session, "one more stranger's", "one");
  const since = performance.now();
  if (stranger.admitted) {
    const { attention } = await worker.until("flagged", (each) => each.attention !== null);
    assert.ok(performance.now() - since < FLAGGED_WITHIN_MS, "flagged in time");
    assert.match(attention ?? "", /also open in pid \d+/);
    expectPid(attention ?? "", session);
  } else {
    stage.notes.push(`${stage.vendor.name} itself refuses to open a conversation that is open`);
    assert.equal((await worker.detail()).attention, null);
  }
  await stranger.leave();
  await worker.until("no longer flagged", (each) => each.attention === null);
}

import assert from "node:assert/strict";
import { processTable } from "../../../src/runtime/process/index.ts";
import type { Case } from "../case.ts";
import { expectRefused, expectTold } from "../expect.ts";
import type { LiveSetup } from "../setup.ts";
import type { Worker } from "../worker.ts";

const FLAGGED_WITHIN_MS = 5_000;

export const foreignOpener: Case = {
  letter: "u",
  title: "open in a process perdure did not start: refused, flagged",
  modes: ["headless", "tui"],
  core: true,
  async run(setup) {
    const worker = setup.worker("w");
    const session = await expectTold(setup, worker, await worker.say("one"), ["one"]);
    await worker.kill();

    const before = await setup.openForeignProgram(session, "a foreign turn", "one");
    assert.ok(before.admitted, "nobody else has it open");
    const { text } = await expectRefused(setup, worker, { code: 5, says: ["is open in another process", session] });
    expectPid(text, session);
    await before.leave();

    await worker.hold("two");
    await expectFlag(setup, worker, session);
    await worker.kill();
  },
};

/** Checks that the text names the pid of the foreign opener: a live process in this conversation that carries no run. */
function expectPid(text: string, session: string): void {
  const pid = Number(/pid (\d+)/.exec(text)?.[1]);
  const table = processTable();
  assert.ok(table.argv(pid).join(" ").includes(session), `pid ${pid} is on ${session}: ${table.argv(pid).join(" ")}`);
  assert.equal(table.variable(pid, "PERDURE_RUN"), null);
}

async function expectFlag(setup: LiveSetup, worker: Worker, session: string): Promise<void> {
  const other = await setup.openForeignProgram(session, "another foreign turn", "one");
  const since = performance.now();
  if (other.admitted) {
    const { attention } = await worker.until("flagged", (each) => each.attention !== null);
    assert.ok(performance.now() - since < FLAGGED_WITHIN_MS, "flagged in time");
    assert.match(attention ?? "", /also open in pid \d+/);
    expectPid(attention ?? "", session);
  } else {
    setup.notes.push(`${setup.vendor.name} itself refuses to open a conversation that is open`);
    assert.equal((await worker.detail()).attention, null);
  }
  await other.leave();
  await worker.until("no longer flagged", (each) => each.attention === null);
}

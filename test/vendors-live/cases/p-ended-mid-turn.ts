import assert from "node:assert/strict";
import { processTable } from "../../../src/runtime/process/index.ts";
import { until } from "../../terminal/tmux.ts";
import type { Case } from "../case.ts";
import { expectProved, expectRefused, expectTold } from "../expect.ts";
import type { LiveSetup } from "../setup.ts";
import type { Worker } from "../worker.ts";

const ENDS: readonly { signal: NodeJS.Signals; to: "wrapper" | "program" }[] = [
  { signal: "SIGTERM", to: "wrapper" },
  { signal: "SIGHUP", to: "wrapper" },
  { signal: "SIGKILL", to: "program" },
  { signal: "SIGKILL", to: "wrapper" },
];

export const endedMidTurn: Case = {
  letter: "p",
  title: "ended in the middle of a turn, in every way",
  modes: ["headless", "tui"],
  core: false,
  async run(setup) {
    const worker = setup.worker("w");
    const session = await expectTold(setup, worker, await worker.say("one"), ["one"]);
    const mine = ["one"];
    for (const { signal, to } of ENDS) {
      const held = await worker.hold(`${signal} to the ${to}`);
      mine.push(...(await setup.untilUnansweredIsWritten(session, held)));
      const pid = await pidOf(setup, worker, to);
      process.kill(pid, signal);
      await until(`the end of the ${to}`, () => (processTable().inspect(pid) === null ? true : null));
      // Without a terminal nobody tells the program that its wrapper is gone: what goes on keeps the name.
      const survives = setup.mode === "headless" && signal === "SIGKILL" && to === "wrapper";
      if (survives) await expectRefused(setup, worker, { code: 4, says: ["is held by run"] });
      await worker.kill();
    }
    const request = await worker.say("last");
    mine.push("last");
    // Some tell the model that a turn was interrupted.
    const told = request.turns.filter((turn) => mine.includes(turn));
    assert.deepEqual(told, mine);
    assert.equal(await expectProved(setup, worker, request), session);
  },
};

async function pidOf(setup: LiveSetup, worker: Worker, which: "wrapper" | "program"): Promise<number> {
  const { run } = await worker.detail();
  assert.ok(run, "it runs");
  if (which === "wrapper") return run.pid;
  const [program] = processTable().children(run.pid);
  assert.ok(program, `the wrapper's program: ${JSON.stringify(setup.home.processesOf(run.id))}`);
  return program;
}

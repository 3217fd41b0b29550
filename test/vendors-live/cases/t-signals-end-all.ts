import assert from "node:assert/strict";
import type { TakeoverResult } from "../../../src/protocol/records/run.ts";
import { until } from "../../terminal/tmux.ts";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";
import type { LiveSetup } from "../setup.ts";
import type { Worker } from "../worker.ts";

/** Each ends a worker that sits in its terminal and waits. */
const ENDS: readonly { what: string; end: (setup: LiveSetup, worker: Worker, pid: number) => Promise<void> }[] = [
  {
    what: "a takeover",
    end: async (setup, { name }) => {
      const { killed } = await setup.home.json<TakeoverResult>(["takeover", name]);
      assert.equal(killed, false, "it went without KILL");
    },
  },
  { what: "TERM", end: (_stage, _worker, pid) => Promise.resolve(void process.kill(pid, "SIGTERM")) },
  { what: "a lost terminal", end: (_stage, worker) => worker.loseTerminal() },
];

export const signalsEndAll: Case = {
  letter: "t",
  title: "TERM and a lost terminal end it, whole",
  modes: ["tui"],
  elsewhere: "without a terminal there is none to lose; TERM is in p",
  core: true,
  async run(setup) {
    const worker = setup.worker("w");
    const turns: string[] = [];
    for (const { what, end } of ENDS) {
      turns.push(`before ${what}`);
      await expectTold(setup, worker, await worker.say(`before ${what}`), turns);
      const { run } = await worker.detail();
      assert.ok(run, "it runs");
      await end(setup, worker, run.pid);
      await until(`nothing left after ${what}`, () => (setup.home.processesOf(run.id).length === 0 ? true : null));
      await worker.ended();
      const [last] = (await worker.history()).runs;
      assert.equal(last?.id, run.id);
      assert.notEqual(last.exit, null, `its exit code after ${what}`);
    }
    turns.push("back");
    await expectTold(setup, worker, await worker.say("back"), turns);
  },
};

import assert from "node:assert/strict";
import type { TakeoverResult } from "../../../src/protocol/records/run.ts";
import { until } from "../../terminal/tmux.ts";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";
import type { Stage } from "../stage.ts";
import type { Worker } from "../worker.ts";

/** Each ends a worker that sits in its terminal and waits. */
const ENDS: readonly { what: string; end: (stage: Stage, worker: Worker, pid: number) => Promise<void> }[] = [
  {
    what: "a takeover",
    end: async (stage, { name }) => {
      const { killed } = await stage.home.json<TakeoverResult>(["takeover", name]);
      assert.equal(killed, false, "it went without KILL");
    },
  },
  { what: "TERM", end: (_stage, _worker, pid) => Promise.resolve(void process.kill(pid, "SIGTERM")) },
  { what: "a lost terminal", end: (_stage, worker) => worker.loseTerminal() },
];

export const endedWhole: Case = {
  letter: "t",
  title: "TERM and a lost terminal end it, whole",
  modes: ["tui"],
  elsewhere: "without a terminal there is none to lose; TERM is in p",
  core: true,
  async run(stage) {
    const worker = stage.worker("w");
    const turns: string[] = [];
    for (const { what, end } of ENDS) {
      turns.push(`before ${what}`);
      await expectTold(stage, worker, await worker.say(`before ${what}`), turns);
      const { run } = await worker.detail();
      assert.ok(run, "it runs");
      await end(stage, worker, run.pid);
      await until(`nothing left after ${what}`, () => (stage.home.processesOf(run.id).length === 0 ? true : null));
      await worker.ended();
      const [last] = (await worker.history()).runs;
      assert.equal(last?.id, run.id);
      assert.notEqual(last.exit, null, `its exit code after ${what}`);
    }
    turns.push("back");
    await expectTold(stage, worker, await worker.say("back"), turns);
  },
};

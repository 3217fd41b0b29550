import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { WorkerDetail } from "../../../src/protocol/records/worker.ts";
import { until } from "../../terminal/tmux.ts";
import { headlessCommand } from "../harness/commands.ts";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";

export const resumedMinutesLater: Case = {
  letter: "s",
  title: "resumed in later minutes, with other runs in between: still there",
  modes: ["headless", "tui"],
  core: true,
  against: ({ age }) => (age ? null : "no file of a conversation is named by the minute"),
  async run(setup) {
    const worker = setup.worker("w");
    const other = setup.worker("other");
    // Another project of the same name: what is kept by a project's name must not get mixed up.
    const twin = join(setup.home.dir, "twin", "api");
    mkdirSync(twin, { recursive: true });
    setup.home.seedFolder(twin);

    const turns = ["one"];
    const session = await expectTold(setup, worker, await worker.say("one"), turns);
    await worker.kill();
    for (const [at, text] of ["two", "three", "four"].entries()) {
      await setup.nextMinute();
      turns.push(text);
      assert.equal(await expectTold(setup, worker, await worker.say(text), turns), session);
      await worker.kill();

      const others = ["two", "three", "four"].slice(0, at + 1).map((each) => `other ${each}`);
      await expectTold(setup, other, await other.say(`other ${text}`), others);
      await other.kill();
      const words = headlessCommand(setup.vendor, [], "in the twin");
      const { code, stderr } = await setup.perdure(["run", "there", "--", ...words], { cwd: twin });
      assert.equal(code, 0, stderr);
      // Its copy is made when the daemon has seen the end: a file that is renamed before that is not found.
      await until("the end of the twin's run", async () => {
        const { run } = await setup.home.json<WorkerDetail>(["show", "there"], { cwd: twin });
        return run === null ? true : null;
      });
      const told = setup.turnRequests().findLast((request) => request.turns.at(-1) === "in the twin");
      assert.equal(told?.turns.length, at + 1, "the twin goes on in its own conversation");
    }
    assert.deepEqual(
      (await worker.history()).sessions.map(({ id }) => id),
      [session],
    );
  },
};

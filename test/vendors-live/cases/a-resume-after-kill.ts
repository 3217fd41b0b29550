import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";

export const resumeAfterKill: Case = {
  letter: "a",
  title: "killed, comes back in its conversation",
  modes: ["headless", "tui"],
  core: true,
  async run(setup) {
    const worker = setup.worker("w");
    const session = await expectTold(setup, worker, await worker.say("one"), ["one"]);

    await worker.kill();
    assert.equal(await expectTold(setup, worker, await worker.say("two"), ["one", "two"]), session);
    assert.equal(await expectTold(setup, worker, await worker.again("two"), ["one", "two", "two"]), session);

    // In the middle of a turn, and the daemon with it: what a power cut does.
    const kept = await setup.untilUnansweredIsWritten(session, await worker.hold("three"));
    await worker.kill({ andDaemon: true });
    const last = await worker.say("four");
    assert.equal(await expectTold(setup, worker, last, ["one", "two", "two", ...kept, "four"]), session);
    assert.deepEqual(
      (await worker.history()).sessions.map(({ id }) => id),
      [session],
      "one conversation, all the time",
    );
  },
};

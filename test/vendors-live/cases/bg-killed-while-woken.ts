import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { sendMail, timesReached, timesTold, untilMail, untilWoken } from "../mail.ts";

export const killedWhileWoken: Case = {
  letter: "bg",
  title: "killed while mail wakes it: the next run gets the mail and begins no turn by itself that nobody asked for",
  modes: ["tui"],
  elsewhere: "without a terminal nobody is idle",
  core: true,
  against: ({ wokenInPane }) => (wokenInPane ? "nothing wakes it in a terminal of its user's" : null),
  async run(setup) {
    const worker = setup.worker("w");
    await worker.say("one");
    const id = await sendMail(setup, worker.name, "the build is red");
    await untilWoken(setup);
    await worker.kill();

    // Headless, where a turn that was left in a queue would come first.
    const since = setup.model.requests.length;
    const told = await setup.worker("w", {}, "headless").say("two");
    assert.ok(timesTold(told, "the build is red") > 0, "the mail is in the request");
    const asked = setup.model.requests.slice(since).filter(({ auxiliary }) => !auxiliary);
    assert.deepEqual(
      asked.map(({ turns }) => turns.at(-1)),
      ["two"],
      "one turn",
    );
    const shown = await untilMail(setup, id, ["injected", "read"]);
    assert.equal(timesReached(shown, "injected"), 1);
  },
};

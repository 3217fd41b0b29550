import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { sendMail, timesReached, timesTold, untilMail, untilTold, wakeableWorker } from "../mail.ts";

export const mailWakes: Case = {
  letter: "bb",
  title: "mail to an idle worker wakes it; a busy one gets it at the next boundary",
  modes: ["tui"],
  elsewhere: "without a terminal nobody is idle",
  core: true,
  async run(setup) {
    const worker = await wakeableWorker(setup, "w");
    await worker.say("one");
    const since = setup.model.requests.length;
    const id = await sendMail(setup, worker.name, "please look at the build");
    const woken = await untilTold(setup, id, "please look at the build", since);
    assert.equal(timesTold(woken, "please look at the build"), 1);
    await untilMail(setup, id, ["read"]);

    const held = await worker.hold("two");
    const busy = await sendMail(setup, worker.name, "and at the tests");
    assert.ok(held);
    // It waits for a hook; or in the conversation already, for the program to go on.
    await untilMail(setup, busy, ["queued", "injected"]);
    const asked = setup.model.requests.length;
    assert.ok(setup.model.requests.every((request) => timesTold(request, "and at the tests") === 0));
    setup.model.release();
    const boundary = await untilTold(setup, busy, "and at the tests", asked);
    assert.equal(timesTold(boundary, "and at the tests"), 1);
    const shown = await untilMail(setup, busy, ["read"]);
    assert.equal(timesReached(shown, "offered"), 1, `it came once: ${JSON.stringify(shown.steps)}`);
  },
};

import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { sendMail, timesTold, untilMail, wakeableWorker } from "../mail.ts";

const HALF = "half a line";
const REST = " and the rest";

export const typedWhileWoken: Case = {
  letter: "bt",
  title: "what a person has begun to type is still there after mail has woken the agent",
  modes: ["tui"],
  elsewhere: "without a terminal nobody types",
  core: true,
  unhurried: true,
  async run(setup) {
    const worker = await wakeableWorker(setup, "w");
    await worker.say("one");
    const terminal = await worker.inFront();
    await terminal.type(HALF);
    const id = await sendMail(setup, worker.name, "the build is red");
    // One that only its terminal wakes is left alone by it, for as long as somebody types.
    if (!setup.traits.wokenInPane) await untilMail(setup, id, ["read"]);
    const since = setup.model.requests.length;
    await terminal.type(REST);
    await terminal.press(["Enter"]);
    const said = await setup.model.until(
      ({ index, auxiliary, turns }) => index >= since && !auxiliary && turns.at(-1) === HALF + REST,
    );
    assert.equal(timesTold(said, "the build is red"), 1, "told once");
    await untilMail(setup, id, ["read"]);
  },
};

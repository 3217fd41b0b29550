import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { sendMail, timesReached, timesTold, untilMail } from "../mail.ts";

export const mailToStopped: Case = {
  letter: "ba",
  title: "mail to a stopped worker is in the first request of its next run, once",
  modes: ["headless", "tui"],
  core: true,
  async run(setup) {
    const worker = setup.worker("w");
    await worker.say("one");
    await worker.kill({ andDaemon: true });
    const id = await sendMail(setup, worker.name, "the build is red");
    process.kill(setup.home.daemonPid() ?? 0, "SIGKILL");
    const since = setup.model.requests.length;
    const isWoken = setup.mode === "tui" && !setup.traits.wokenInPane;
    await (isWoken ? worker.open() : worker.say("two"));
    const first = await setup.model.until(({ index, auxiliary }) => index >= since && !auxiliary);
    assert.equal(timesTold(first, "the build is red"), 1, "the mail is in the first request");
    assert.equal(timesTold(first, id) > 0, true, "with its id");
    const shown = await untilMail(setup, id, ["injected", "read"]);
    assert.deepEqual(shown.steps.map(({ state }) => state).slice(0, 3), ["queued", "offered", "injected"], "its steps");
    if (isWoken) {
      await untilMail(setup, id, ["read"]);
      await worker.say("two");
    }
    await worker.kill();
    const next = await worker.say("three");
    const after = await untilMail(setup, id, ["read"]);
    assert.equal(timesReached(after, "injected"), 1);
    assert.ok(timesTold(next, "the build is red") <= 1, "a second run does not get it again");
    const said = next.turns.filter((text) => ["one", "two", "three"].includes(text));
    assert.deepEqual(said, ["one", "two", "three"], "what was said stays said, whatever came along with it");
  },
};

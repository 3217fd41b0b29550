import assert from "node:assert/strict";
import { eventually } from "../../support/check.ts";
import { cannotMount, SmallDisk } from "../../support/small-disk.ts";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";
import type { LiveSetup } from "../setup.ts";

export const fullDisk: Case = {
  letter: "as",
  title: "/clear, /new while the state folder's disk is full: told as unsure, and followed when there is room",
  modes: ["tui"],
  elsewhere: "only in a terminal is there somebody to type /clear",
  against: ({ renewsAtPrompt }) => renewsAtPrompt,
  core: false,
  long: true,
  async run(setup) {
    const why = cannotMount();
    if (why !== null) {
      setup.notes.push(`nothing was tried: ${why}`);
      return;
    }
    const disk = new SmallDisk(setup.home.state, "48m");
    try {
      await followOnFullDisk(setup, disk);
    } finally {
      disk.empty();
      await setup.perdure(["daemon", "stop"]);
      disk.unmount();
    }
  },
};

async function followOnFullDisk(setup: LiveSetup, disk: SmallDisk): Promise<void> {
  assert.equal((await setup.perdure(["run", "box", "--", "true"])).code, 0);
  const worker = setup.worker("w");
  const first = await expectTold(setup, worker, await worker.say("one"), ["one"]);
  await worker.until("proved", ({ session }) => session?.proved === true);
  await eventually("the store to be full", async () => {
    disk.fill();
    return (await setup.perdure(["send", "box", "x"])).code === 7;
  });
  await worker.renew();
  const unsure = await worker.until("unsure", ({ session }) => session?.proved !== true);
  setup.notes.push(unsure.attention ?? "no word");
  assert.equal(unsure.session?.proved, "pending");
  disk.empty();
  const second = await expectTold(setup, worker, await worker.say("two"), ["two"]);
  assert.notEqual(second, first);
  await worker.until("followed", ({ session }) => session?.id === second && session.proved === true);
  await worker.kill();
  assert.equal(await expectTold(setup, worker, await worker.say("three"), ["two", "three"]), second);
}

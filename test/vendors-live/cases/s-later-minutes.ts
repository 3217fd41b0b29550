import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { headlessCommand } from "../bed/commands.ts";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";

export const laterMinutes: Case = {
  letter: "s",
  title: "resumed in later minutes, with other runs in between: still there",
  modes: ["headless", "tui"],
  core: true,
  against: ({ age }) => (age ? null : "no file of a conversation is named by the minute"),
  async run(stage) {
    const worker = stage.worker("w");
    const other = stage.worker("other");
    // Another project of the same name: what is kept by a project's name must not get mixed up.
    const twin = join(stage.home.dir, "twin", "api");
    mkdirSync(twin, { recursive: true });
    stage.home.seedFolder(twin);

    const turns = ["one"];
    const session = await expectTold(stage, worker, await worker.say("one"), turns);
    await worker.kill();
    for (const [at, text] of ["two", "three", "four"].entries()) {
      await stage.nextMinute();
      turns.push(text);
      assert.equal(await expectTold(stage, worker, await worker.say(text), turns), session);
      await worker.kill();

      const others = ["two", "three", "four"].slice(0, at + 1).map((each) => `other ${each}`);
      await expectTold(stage, other, await other.say(`other ${text}`), others);
      await other.kill();
      const words = headlessCommand(stage.vendor, [], "in the twin");
      const { code, stderr } = await stage.perdure(["run", "there", "--", ...words], { cwd: twin });
      assert.equal(code, 0, stderr);
      const told = stage.asked().findLast((request) => request.turns.at(-1) === "in the twin");
      assert.equal(told?.turns.length, at + 1, "the twin goes on in its own conversation");
    }
    assert.deepEqual(
      (await worker.history()).sessions.map(({ id }) => id),
      [session],
    );
  },
};

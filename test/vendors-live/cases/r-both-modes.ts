import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";

export const bothModes: Case = {
  letter: "r",
  title: "without a terminal, in one, and without again",
  modes: ["tui"],
  elsewhere: "both are in the other row",
  core: false,
  async run(setup) {
    const headless = setup.worker("w", {}, "headless");
    const terminal = setup.worker("w", { said: "one" }, "tui");
    const session = await expectTold(setup, headless, await headless.say("one"), ["one"]);
    assert.equal(await expectTold(setup, terminal, await terminal.say("two"), ["one", "two"]), session);
    await terminal.kill();
    assert.equal(await expectTold(setup, headless, await headless.say("three"), ["one", "two", "three"]), session);
  },
};

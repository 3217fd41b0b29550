import assert from "node:assert/strict";
import { until } from "../../terminal/tmux.ts";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";

export const turnBehindRotation: Case = {
  letter: "v",
  title: "a turn that goes on behind a new conversation does not call it back",
  modes: ["tui"],
  elsewhere: "only in a terminal is there a conversation in front",
  core: false,
  against: ({ behind: command }) => (command === undefined ? "no turn goes on behind another conversation" : null),
  async run(setup) {
    const worker = setup.worker("w");
    const first = await expectTold(setup, worker, await worker.say("one"), ["one"]);
    await worker.hold("two");
    const pane = setup.newestPane();
    const command = setup.traits.behind ?? "";
    await pane.type(command);
    await pane.shows(new RegExp(`^\\S+ ${command}\\b`, "m"));
    await pane.keys("Enter");
    const { session } = await worker.until("in another conversation", (each) => each.session?.id !== first);

    setup.model.release();
    await until("the end of the turn behind", () => (setup.hasWritten(first, "turns=2 first=") ? true : null));
    // Its hooks have come to their end by then, too: what is said now is heard after them.
    const second = await expectTold(setup, worker, await worker.say("three"), ["three"]);
    assert.equal(second, session?.id);
    const { sessions, runs } = await worker.history();
    assert.deepEqual(
      sessions.map(({ id }) => id),
      [second, first],
    );
    assert.deepEqual(
      runs[0]?.sessions.map(({ id }) => id),
      [first, second],
      "there and not back",
    );
  },
};

import assert from "node:assert/strict";
import { until } from "../../terminal/tmux.ts";
import type { Case } from "../case.ts";
import { TerminalWorker } from "../terminal-worker.ts";

export const conversationName: Case = {
  letter: "bm",
  title: "what its user calls a conversation is on record, over a restart too, and is not the worker's name",
  modes: ["tui"],
  elsewhere: "without a terminal nobody gives a name",
  core: false,
  against: ({ naming }) => (naming ? null : "it tells nobody what a conversation is called"),
  async run(setup) {
    const { naming } = setup.traits;
    const worker = new TerminalWorker(setup, "w", {});
    const nameIs = async (name: string): Promise<void> => {
      await until(
        `the name ${name}`,
        async () => ((await worker.detail()).conversation?.name === name ? true : null),
        async () => JSON.stringify((await worker.detail()).conversation),
      );
    };
    await worker.say("one");
    await nameIs(worker.name);
    const terminal = await worker.inFront();
    await terminal.prompt(`${naming} my own words`);
    await nameIs("my own words");
    const { address, session } = await worker.detail();
    assert.match(address, /\/w$/);
    assert.match((await setup.perdure(["show", worker.name])).stdout, /called "my own words"/);
    assert.match((await setup.perdure(["ls", "--long"])).stdout, /my own words/);

    await worker.again("two");
    await nameIs("my own words");
    assert.equal(await worker.session(), session?.id);
  },
};

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";
import { headlessCommand } from "../harness/commands.ts";
import { TerminalWorker } from "../terminal-worker.ts";

export const rewound: Case = {
  letter: "ap",
  title: "A1: a conversation that its user has rewound goes on there, in whichever file, and comes back",
  modes: ["tui"],
  elsewhere: "only in a terminal is there somebody who rewinds",
  against: ({ rewind }) => (rewind === undefined ? "its rewind goes on in the same file" : null),
  core: true,
  async run(setup) {
    const { rewind = [] } = setup.traits;
    const worker = new TerminalWorker(setup, "w", {});
    await worker.say("one");
    await worker.say("two");
    const terminal = await worker.inFront();
    for (const { keys, shows } of rewind) {
      await terminal.press(keys);
      await terminal.until(String(shows), (screen) => shows.test(screen));
    }
    const session = await expectTold(setup, worker, await worker.say("three"), ["one", "three"]);
    await worker.until("at rest", ({ state }) => state === "idle");
    await worker.kill();

    assert.equal(await expectTold(setup, worker, await worker.say("four"), ["one", "three", "four"]), session);
    await worker.until("at rest again", ({ state }) => state === "idle");
    await worker.kill();

    const { code, stderr } = await setup.perdure(["run", "w", "--", ...headlessCommand(setup.vendor, [], "five")]);
    assert.equal(code, 0, stderr);
    const told = setup.turnRequests().at(-1);
    assert.ok(told);
    assert.equal(await expectTold(setup, worker, told, ["one", "three", "four", "five"]), session);

    // What is lost of it is told, by a drill as by a start.
    const [, ...later] = setup.filesOf(session);
    assert.equal(later.length, 1, "it goes on in another file");
    for (const file of later) rmSync(file);
    assert.notEqual((await setup.perdure(["drill", "w"])).code, 0);
    const { text } = await worker.refused();
    assert.match(text, /was cut short/);
  },
};

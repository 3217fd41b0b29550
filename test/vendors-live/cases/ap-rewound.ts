import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";
import { headlessCommand } from "../harness/commands.ts";
import type { LiveSetup } from "../setup.ts";
import { TerminalWorker } from "../terminal-worker.ts";

export const rewound: Case = {
  letter: "ap",
  title: "A1: a conversation that its user has rewound goes on there, in whichever file, and comes back",
  modes: ["tui"],
  elsewhere: "only in a terminal is there somebody who rewinds",
  against: ({ rewind }) => (rewind === undefined ? "its rewind is written behind everything else" : null),
  core: true,
  async run(setup) {
    const worker = new TerminalWorker(setup, "w", {});
    await worker.say("one");
    await worker.say("two");
    await rewindLast(setup, worker);
    const session = await expectTold(setup, worker, await worker.say("three"), ["one", "three"]);
    await worker.until("at rest", ({ state }) => state === "idle");
    await worker.kill();

    assert.equal(await expectTold(setup, worker, await worker.say("four"), ["one", "three", "four"]), session);
    await worker.until("at rest again", ({ state }) => state === "idle");
    // Nothing is said after this one before the kill.
    await rewindLast(setup, worker);
    await worker.kill();
    const drill = await setup.perdure(["drill", "w"]);
    assert.equal(drill.code, 0, drill.stdout);

    assert.equal(await sayHeadless(setup, worker, "five", ["one", "three", "five"]), session);
    if (setup.traits.rewind?.writes === "another file") await expectAllFilesKept(setup, worker, session);
  },
};

async function sayHeadless(setup: LiveSetup, worker: TerminalWorker, text: string, turns: string[]): Promise<string> {
  const { code, stderr } = await setup.perdure(["run", "w", "--", ...headlessCommand(setup.vendor, [], text)]);
  assert.equal(code, 0, stderr);
  const told = setup.turnRequests().at(-1);
  assert.ok(told);
  const session = await expectTold(setup, worker, told, turns);
  await worker.until("ended", ({ run }) => run === null);
  return session;
}

async function rewindLast(setup: LiveSetup, worker: TerminalWorker): Promise<void> {
  const terminal = await worker.inFront();
  for (const { keys, shows } of setup.traits.rewind?.steps ?? []) {
    await terminal.press(keys);
    await terminal.until(String(shows), (screen) => shows.test(screen));
  }
}

/** Later files that are lost come back from their copies; without copies that is told, by a drill as by a start. */
async function expectAllFilesKept(setup: LiveSetup, worker: TerminalWorker, session: string): Promise<void> {
  const [, ...later] = setup.filesOf(session);
  assert.ok(later.length > 0, "it goes on in another file");
  for (const file of later) rmSync(file);
  assert.equal(await sayHeadless(setup, worker, "six", ["one", "three", "five", "six"]), session);

  setup.hideCopies();
  for (const file of later) rmSync(file);
  assert.notEqual((await setup.perdure(["drill", "w"])).code, 0);
  const { text } = await worker.refused();
  assert.match(text, /was cut short/);
}

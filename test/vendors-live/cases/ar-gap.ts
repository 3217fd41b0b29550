import assert from "node:assert/strict";
import { appendFileSync, readFileSync } from "node:fs";
import { cannotLock, lock } from "../../support/unwritable.ts";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";
import { writeFleet } from "../fleet-file.ts";
import { headlessCommand } from "../harness/commands.ts";
import type { Terminal } from "../harness/terminal.ts";
import { PaneWorker } from "../pane-worker.ts";
import type { LiveSetup } from "../setup.ts";
import { TerminalWorker } from "../terminal-worker.ts";
import type { Worker } from "../worker.ts";

export const gap: Case = {
  letter: "ar",
  title:
    "A: after a line that was cut off, or a moment without writing, what was said before is told to the model, or the start is refused",
  modes: ["headless", "tui"],
  against: ({ database }) => (database === null ? null : "its conversations are in a database"),
  core: true,
  long: true,
  async run(setup) {
    if (setup.mode === "headless") return cutOff(setup);
    const { losesSilently, stopsRecording, failsToRecord } = setup.traits;
    if (failsToRecord !== undefined) await unwrittenAndTold(setup, failsToRecord);
    if (stopsRecording !== undefined) return unwrittenFromThenOn(setup, stopsRecording);
    if (losesSilently === true) return unwrittenForAMoment(setup);
    setup.notes.push(`${setup.vendor.name} says itself that it cannot write`);
  },
};

/** A kill or a power cut in the middle of a write leaves the beginning of a line. */
async function cutOff(setup: LiveSetup): Promise<void> {
  const worker = setup.worker("w");
  await worker.say("one");
  await expectTold(setup, worker, await worker.say("two"), ["one", "two"]);
  const file = await worker.transcript();
  const last = readFileSync(file, "utf8").trimEnd().split("\n").at(-1) ?? "";
  appendFileSync(file, last.slice(0, last.length / 2));
  await expectWhole(setup, worker, ["one", "two", "three"]);
  await expectWhole(setup, worker, ["one", "two", "three", "four"]);
}

async function unwrittenForAMoment(setup: LiveSetup): Promise<void> {
  if (!canLock(setup)) return;
  const worker = new TerminalWorker(setup, "w", {});
  await worker.say("one");
  await unwritten(worker, await worker.inFront(), "two");
  await answered(worker, await worker.inFront(), "three");
  await worker.kill();
  await expectWhole(setup, worker, ["one", "two", "three", "four"]);
}

/** The person has to know of the loss, also when the program can write again. */
async function unwrittenAndTold(setup: LiveSetup, says: RegExp): Promise<void> {
  if (!canLock(setup)) return;
  writeFleet(setup, setup.home.project, ["told"], null);
  await setup.home.json(["up", "--yes"]);
  const worker = new PaneWorker(setup, "told", {});
  await worker.say("one");
  const terminal = await worker.inFront();
  await unwritten(worker, terminal, "two");
  await worker.until("told", ({ attention }) => says.test(attention ?? ""));
  await answered(worker, terminal, "three");
  await worker.until("told still", ({ state, attention }) => state === "idle" && says.test(attention ?? ""));
  await worker.renew();
  await expectTold(setup, worker, await worker.say("four"), ["four"]);
  await worker.until("over", ({ attention }) => attention === null);
  await setup.home.perdure(["down"]);
}

/** Nothing brings the turns back, so that its person has to know before there are more of them; a new conversation is recorded. */
async function unwrittenFromThenOn(setup: LiveSetup, says: RegExp): Promise<void> {
  if (!canLock(setup)) return;
  writeFleet(setup, setup.home.project, ["w"], null);
  await setup.home.json(["up", "--yes"]);
  const worker = new PaneWorker(setup, "w", {});
  await worker.say("one");
  const terminal = await worker.inFront();
  await unwritten(worker, terminal, "two");
  await worker.until("told", ({ attention }) => says.test(attention ?? ""));
  await answered(worker, terminal, "three");
  await worker.until("told still", ({ state, attention }) => state === "idle" && says.test(attention ?? ""));
  await worker.renew();
  await expectTold(setup, worker, await worker.say("four"), ["four"]);
  await worker.until("over", ({ attention }) => attention === null);
}

function canLock(setup: LiveSetup): boolean {
  const why = cannotLock();
  if (why !== null) setup.notes.push(`nothing was tried: ${why}`);
  return why === null;
}

/** The turn is answered while the transcript cannot be written. */
async function unwritten(worker: TerminalWorker, terminal: Terminal, text: string): Promise<void> {
  const unlock = lock(await worker.transcript());
  try {
    await answered(worker, terminal, text);
  } finally {
    unlock();
  }
}

async function answered(worker: TerminalWorker, terminal: Terminal, text: string): Promise<void> {
  await worker.begin(text);
  await terminal.shows(`last=${text}`);
  await terminal.ready();
}

/** Expects a start to be refused with the reason, or to tell the model everything that was said. */
async function expectWhole(setup: LiveSetup, worker: Worker, turns: readonly string[]): Promise<void> {
  const words = ["run", worker.name, "--", ...headlessCommand(setup.vendor, [], turns.at(-1) ?? "")];
  const { code, stderr } = await setup.perdure(words);
  if (code === 5) return assert.match(stderr, /→/);
  assert.equal(code, 0, stderr);
  assert.deepEqual([...(setup.turnRequests().at(-1)?.turns ?? [])], [...turns], "what the model was told");
}

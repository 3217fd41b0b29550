import assert from "node:assert/strict";
import type { History } from "../../../src/protocol/records/run.ts";
import { until } from "../../terminal/tmux.ts";
import { PINS } from "../harness/pins.ts";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";
import type { LiveSetup } from "../setup.ts";
import type { Worker } from "../worker.ts";

export const recordedHistory: Case = {
  letter: "l",
  title: "history tells all of that as it was",
  modes: ["headless", "tui"],
  core: true,
  async run(setup) {
    const worker = setup.worker("w");
    const first = await expectTold(setup, worker, await worker.say("one"), ["one"]);
    await worker.kill();
    await expectTold(setup, worker, await worker.say("two"), ["one", "two"]);
    // In a terminal by /clear or /new, else by --fresh: the one after the other both times.
    if (setup.mode === "tui") await worker.renew();
    else worker.from({ fresh: true });
    const second = await expectTold(setup, worker, await worker.say("three"), ["three"]);
    worker.from({});
    const kept = await setup.untilUnansweredIsWritten(second, await worker.hold("four"));
    await worker.kill();
    await expectTold(setup, worker, await worker.say("five"), ["three", ...kept, "five"]);
    await worker.kill();

    // The last look at a conversation is taken when its run is over.
    const bytes = Buffer.byteLength(await setup.transcriptOf(second));
    const history = await until("what was written last, on record", async () => {
      const each = await worker.history();
      return each.sessions.find(({ current }) => current)?.transcript?.bytes === bytes ? each : null;
    });
    expectRuns(setup, history, first, second);
    await expectSessions(setup, history, first, second);
    await expectText(setup, worker, second);
  },
};

/** Oldest first, as [how it ended, its conversations]. */
function expectRuns(setup: LiveSetup, { runs }: History, first: string, second: string): void {
  const oldestFirst = runs.toReversed();
  const seen = oldestFirst.map((run) => [run.reason, run.exit, ...run.sessions.map(({ began, id }) => [began, id])]);
  const inTerminal = [
    ["killed", null, ["new", first]],
    ["killed", null, ["resume", first], ["rotation", second]],
    ["killed", null, ["resume", second]],
  ];
  const headless = [
    ["exited", 0, ["new", first]],
    ["exited", 0, ["resume", first]],
    ["exited", 0, ["new", second]],
    ["killed", null, ["resume", second]],
    ["exited", 0, ["resume", second]],
  ];
  assert.deepEqual(seen, setup.mode === "tui" ? inTerminal : headless);
  assert.deepEqual(
    oldestFirst.map(({ generation }) => generation),
    oldestFirst.map((_, at) => at + 1),
  );
  let before = "";
  for (const { startedAt, endedAt, sessions } of oldestFirst) {
    for (const { at, provedAt, proved, evidence } of sessions) {
      assert.equal(proved, true);
      assert.ok(evidence);
      const times = [before, startedAt, at, endedAt ?? ""];
      assert.deepEqual(times, times.toSorted(byText), "one after the other");
      // After the end, where what it wrote is the proof.
      assert.ok((provedAt ?? "") >= at, "proved after it began");
    }
    before = endedAt ?? "";
  }
}

async function expectSessions(setup: LiveSetup, { sessions }: History, first: string, second: string): Promise<void> {
  const { provenance, tellsVersion } = setup.traits;
  const seen = sessions.map((each) => [each.id, each.provenance, each.rotatedFrom, each.current, each.proved]);
  assert.deepEqual(seen, [
    [second, setup.mode === "tui" ? "rotated" : provenance, first, true, true],
    [first, provenance, null, false, true],
  ]);
  const { name } = setup.vendor;
  for (const { id, vendor, version, launchCwd, transcript, current } of sessions) {
    assert.deepEqual([vendor, launchCwd], [name, setup.home.project]);
    assert.equal(version, tellsVersion ? PINS[name].version : null, "of the program, as the transcript tells it");
    assert.ok(transcript && setup.transcripts().includes(transcript.file), JSON.stringify(transcript));
    const size = Buffer.byteLength(await setup.transcriptOf(id));
    // The one it has left may have been finished after that.
    assert.ok(current ? transcript.bytes === size : transcript.bytes <= size, `${transcript.bytes} of ${size} bytes`);
  }
}

function byText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Checks the text for people, too. */
async function expectText(setup: LiveSetup, worker: Worker, second: string): Promise<void> {
  const { stdout } = await setup.perdure(["history", worker.name, "--long"]);
  assert.ok(stdout.includes(second), stdout);
  assert.match(stdout, /resumed …\S+ \(verified: .+\)/);
  assert.doesNotMatch(stdout, /not verified yet|WRONG/);
}

import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import type { Case } from "../case.ts";
import { TurnWorker } from "../turn-worker.ts";

/** Seed 003 by workers of turns, one for each session id; Pi itself makes the turns. */
export const sessionsInTurns: Case = {
  letter: "dh",
  title:
    "a stable conversation for each session id, across spawned task processes: a message in, a turn, the answer out",
  modes: ["headless"],
  elsewhere: "its turns are headless",
  core: true,
  against: ({ fileOfChoice }) => (fileOfChoice ? null : "the seed is about Pi"),
  async run(setup) {
    // "The GSD session ID is the stable local key for that conversation."
    const [one, other] = await TurnWorker.all(setup, ["gsd-1", "gsd-2"]);
    assert.ok(one && other);
    const answer = async (worker: TurnWorker, text: string, id: string): Promise<string> => {
      const { code, stdout, stderr } = await worker.ask(text, id);
      assert.equal(code, 0, stderr);
      return stdout;
    };
    assert.match(await answer(one, "build it", "one-1"), /^turns=1 first=.*build it/s);
    assert.match(await answer(other, "something else", "other-1"), /^turns=1 first=.*something else/s);
    assert.notEqual(await one.onlySession(), await other.onlySession());

    // "Pi requires --session <path> to preserve conversation context across spawned task processes": a restart between two messages.
    await one.until("asleep", ({ state }) => state === "asleep");
    process.kill(setup.home.daemonPid() ?? 0, "SIGKILL");
    assert.match(await answer(one, "and test it", "one-2"), /^turns=2 first=.*build it/s);

    // Two messages at once: the seed has no lock, so that two processes would write the same file.
    const both = await Promise.all([
      answer(one, "third", "one-3"),
      answer(one, "fourth", "one-4"),
      answer(other, "second", "other-2"),
    ]);
    const counts = both.map((text) => Number(/^turns=(\d)/.exec(text)?.[1]));
    assert.deepEqual([...counts.slice(0, 2).toSorted((a, b) => a - b), counts[2]], [3, 4, 2]);
    const spans = (await one.history()).runs
      .map(({ startedAt, endedAt }) => [startedAt, endedAt ?? ""] as const)
      .toReversed();
    for (const [at, [startedAt]] of spans.entries())
      assert.ok(at === 0 || startedAt >= (spans[at - 1]?.[1] ?? ""), "one at a time");

    // A stale id: the known session's file is gone. It is put back, and never silently fresh.
    await one.until("asleep", ({ state }) => state === "asleep");
    const file = (await one.history()).sessions[0]?.transcript?.file ?? "";
    const before = readFileSync(file, "utf8");
    rmSync(file);
    assert.match(await answer(one, "fifth", "one-5"), /^turns=5 first=.*build it/s);
    assert.ok(readFileSync(file, "utf8").startsWith(before), "in the same file");
    await one.onlySession();
    await other.onlySession();
  },
};

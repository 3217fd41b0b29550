import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { showMail } from "../mail.ts";
import { putInFront } from "../program-in-front.ts";
import { TurnWorker } from "../turn-worker.ts";

/** Some programs go on after their answer, for seconds where they find no network; here all do. */
const LINGERS_MS = 4_000;

export const answerBeforeEnd: Case = {
  letter: "df",
  title: "an answer that stands before the program ends is sent then, and the next turn waits for the end",
  modes: ["headless"],
  elsewhere: "a turn has no terminal",
  core: true,
  unhurried: true,
  async run(setup) {
    putInFront(setup, `real "$@"; code=$?; sleep ${LINGERS_MS / 1_000}; exit $code`);
    const worker = await TurnWorker.up(setup, "w");
    const first = await worker.ask("one", "ask-1");
    assert.match(first.stdout, /^turns=1 /, first.stderr);
    const second = await worker.ask("two", "ask-2");
    assert.match(second.stdout, /^turns=2 /, second.stderr);
    await worker.until("asleep", ({ state }) => state === "asleep");
    const { reply } = await showMail(setup, "ask-1");
    const [next, earlier] = (await worker.history()).runs;
    const ended = Date.parse(earlier?.endedAt ?? "");
    const before = ended - Date.parse(reply?.createdAt ?? "");
    setup.notes.push(`${setup.vendor.name}: the answer came ${before} ms before the end`);
    assert.ok(before > LINGERS_MS / 2, `answered at ${reply?.createdAt}, ended at ${earlier?.endedAt}`);
    assert.ok(Date.parse(next?.startedAt ?? "") >= ended, "one turn at a time");
    await worker.onlySession();
  },
};

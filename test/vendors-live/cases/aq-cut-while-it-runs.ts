import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { until } from "../../terminal/tmux.ts";
import type { Case } from "../case.ts";
import { expectRefused, expectTold } from "../expect.ts";

export const cutWhileItRuns: Case = {
  letter: "aq",
  title: "A1: turns that are gone from a transcript while its worker runs are missed, however long it grows again",
  modes: ["tui"],
  elsewhere: "a headless run is over before anybody could",
  against: ({ database }) => (database === null ? null : "one database has all conversations"),
  core: true,
  async run(setup) {
    const worker = setup.worker("w");
    const session = await expectTold(setup, worker, await worker.say("one"), ["one"]);
    const [file = ""] = setup.filesOf(session);
    const early = readFileSync(file);
    await worker.say("two");
    const whole = statSync(file).size;
    await until("its copy", async () => ((await worker.detail()).conversation?.custody?.bytes ?? 0) >= whole || null);

    writeFileSync(file, early);
    // Each word is another one: a program may take repetition for a loop of its model's.
    const words = Array.from({ length: Math.ceil((whole - early.length) / 8) }, (_, n) => `word${n}`).join(" ");
    while (statSync(file).size <= whole) await worker.say(`more ${words}`);
    await worker.kill();
    await expectRefused(setup, worker, { code: 5, says: ["its beginning was changed", "--kept", session, "--fresh"] });
    assert.notEqual((await setup.perdure(["drill", "w"])).code, 0);

    assert.equal((await setup.perdure(["adopt", "w", "--kept"])).code, 0);
    const told = await setup.worker("w", { said: "one" }).say("three");
    assert.deepEqual(told.turns.slice(0, 2), ["one", "two"], "nothing that was copied is lost");
  },
};

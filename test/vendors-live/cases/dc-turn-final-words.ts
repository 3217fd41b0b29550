import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { TurnWorker } from "../turn-worker.ts";

export const turnFinalWords: Case = {
  letter: "dc",
  title: "of a turn that calls a tool, only what is said last comes back",
  modes: ["headless"],
  elsewhere: "a turn has no terminal",
  core: true,
  unhurried: true,
  async run(setup) {
    const { shell } = setup.traits;
    const worker = await TurnWorker.up(setup, "w", shell.args.headless);
    const calls = [1, 2].map((step) => shell.call(`echo seen-by-tool-${step}`)).join(" ");
    const { code, stdout, stderr } = await worker.ask(`look twice [[before I will look.]] ${calls}`, "ask-1");
    assert.equal(code, 0, stderr);
    // What it was told stands in what it says; before a call it says nothing else.
    assert.match(stdout, /^turns=1 first=/);
    assert.match(stdout, / tool=.*seen-by-tool-2/s);
    assert.equal(worker.timesAsked("look twice"), 3, "twice for a call, and once for the answer");
    const next = await worker.ask("and now?", "ask-2");
    assert.match(next.stdout, /^turns=2 /, next.stderr);
    await worker.onlySession();
  },
};

import assert from "node:assert/strict";
import type { Trick } from "../../support/front-program.ts";
import type { Case } from "../case.ts";
import type { LiveSetup } from "../setup.ts";
import { expectNothingFalse, startBehindFront, withStranger } from "../front.ts";

// The stranger's conversation is the newest one only until something was said in the worker's own.
const RESUMED: readonly Trick[] = ["add newest", "add other", "swap", "drop", "pass on"];
const NEW: readonly Trick[] = ["add newest", "swap", "drop"];

export const argumentsChanged: Case = {
  letter: "aa",
  title: "A1: a program in front that adds, swaps and drops arguments proves nothing false",
  modes: ["headless", "tui"],
  core: true,
  long: true,
  async run(setup) {
    const its = await withStranger(setup);
    for (const trick of RESUMED) {
      const seen = await startBehindFront(setup, its, trick);
      setup.notes.push(`${trick}: ${seen.told?.[0] ?? "nothing said"}, ${seen.proved}`);
      await expectNothingFalse(setup, "w", its.mine, seen);
      if (trick === "pass on") assert.equal(seen.told?.[0], "mine", JSON.stringify(seen));
    }
    for (const trick of NEW) {
      const name = trick.replace(" ", "-");
      const seen = await startBehindFront(setup, its, trick, name);
      const [first] = (await setup.worker(name).history()).sessions.toReversed();
      setup.notes.push(`new, ${trick}: ${seen.told?.[0] ?? "nothing said"}, ${seen.proved}`);
      // What is said in a new conversation is the first that is said there.
      const said = seen.told?.length === 1 ? (seen.told[0] ?? "") : null;
      const inItsOwn = said !== null && (await hasSaid(setup, first?.id ?? "", said));
      await expectNothingFalse(setup, name, first?.id ?? "", seen, inItsOwn);
    }
  },
};

/** A database has the words of all conversations in one file, so its program is asked. */
async function hasSaid(setup: LiveSetup, session: string, text: string): Promise<boolean> {
  if (setup.traits.database === null) return setup.hasWritten(session, text);
  return (await setup.transcriptOf(session)).includes(text);
}

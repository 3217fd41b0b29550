import assert from "node:assert/strict";
import type { Trick } from "../../support/front-program.ts";
import type { Case } from "../case.ts";
import { expectNothingFalse, startBehindFront, withStranger } from "../front.ts";

const TRICKS: readonly Trick[] = ["unknown", "hide", "print help", "sleep", "exit 0", "exit 1", "pass on"];

export const opensNothing: Case = {
  letter: "ab",
  title: "A1: a program in front that opens nothing is not proved",
  modes: ["headless", "tui"],
  core: true,
  long: true,
  async run(setup) {
    const its = await withStranger(setup);
    for (const trick of TRICKS) {
      if (trick === "hide" && setup.traits.database !== null) continue;
      const seen = await startBehindFront(setup, its, trick);
      setup.notes.push(`${trick}: ${seen.told?.[0] ?? "nothing said"}, ${seen.proved}`);
      await expectNothingFalse(setup, "w", its.mine, seen);
      if (trick === "pass on") assert.equal(seen.told?.[0], "mine", JSON.stringify(seen));
    }
  },
};

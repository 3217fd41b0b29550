import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Case } from "../case.ts";
import { expectRefused, expectTold } from "../expect.ts";

/** What happens to the file, and the word the refusal has for it. */
const DAMAGES: readonly { says: string; does: (file: string, text: string) => void }[] = [
  { says: "is empty", does: (file) => writeFileSync(file, "") },
  { says: "is damaged", does: (file, text) => writeFileSync(file, "\u0000garbage\n".repeat(text.length / 8)) },
  { says: "is gone", does: (file) => rmSync(file) },
  { says: "was cut short", does: (file, text) => writeFileSync(file, firstHalf(text)) },
];

export const damage: Case = {
  letter: "e",
  title: "a lost or damaged transcript is refused, never begun anew",
  modes: ["headless", "tui"],
  core: true,
  async run(stage) {
    const worker = stage.worker("w");
    await worker.say("one");
    const session = await expectTold(stage, worker, await worker.say("two"), ["one", "two"]);
    await worker.kill();

    const file = await worker.transcript();
    const whole = readFileSync(file, "utf8");
    for (const { says, does } of DAMAGES) {
      does(file, whole);
      const refusal = await expectRefused(stage, worker, { code: 5, says: [says, session, "→", "--fresh"] });
      const { state, attention } = await worker.until("unresumable", (each) => each.state === "unresumable");
      assert.ok(attention?.includes(says), `${state}: ${attention} tells what ${refusal.text} told`);
      writeFileSync(file, whole);
    }

    const request = await worker.say("three");
    assert.equal(await expectTold(stage, worker, request, ["one", "two", "three"]), session, "put back, it resumes");
  },
};

/** Whole lines: every one of them good. */
function firstHalf(text: string): string {
  const lines = text.split("\n");
  return `${lines.slice(0, Math.ceil(lines.length / 2)).join("\n")}\n`;
}

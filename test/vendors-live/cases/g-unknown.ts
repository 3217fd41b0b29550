import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { headlessCommand, runIn } from "../bed/commands.ts";
import type { Case } from "../case.ts";
import { loss } from "../damage.ts";
import { expectRefused, expectTold } from "../expect.ts";
import type { Stage } from "../stage.ts";

export const unknown: Case = {
  letter: "g",
  title: "an unknown conversation is refused, a real one adopted",
  modes: ["headless", "tui"],
  core: true,
  async run(stage) {
    await expectNotAdopted(stage, randomUUID(), 3);

    const byHand = await runIn(stage.home, headlessCommand(stage.vendor, [], "by hand"));
    assert.equal(byHand.code, 0, byHand.stderr);
    const session = await byItself(stage);
    if (stage.traits.database === null) await expectNoForgery(stage, session);

    const adopted = await stage.perdure(["adopt", "w", "--vendor", stage.vendor.name, "--session", session]);
    assert.equal(adopted.code, 0, adopted.stderr);
    const worker = stage.worker("w");

    // The id stays on record, and the vendor knows nothing of it any more.
    const { says, does, undo } = loss(stage, session);
    stage.hideCopies();
    await does();
    await expectRefused(stage, worker, { code: 5, says: [says, session, "→"] });
    await undo();

    const request = await worker.say("by perdure");
    assert.equal(await expectTold(stage, worker, request, ["by hand", "by perdure"]), session);
    assert.deepEqual(
      (await worker.history()).sessions.map(({ provenance }) => provenance),
      ["adopted"],
    );
  },
};

/** The one conversation there is. */
async function byItself(stage: Stage): Promise<string> {
  const [found = ""] = await stage.conversations();
  const ids = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
  if (stage.traits.database !== null) return found;
  return ids.exec(found)?.[0] ?? ids.exec(readFileSync(found, "utf8"))?.[0] ?? found;
}

/** Another's conversation under an id the vendor never gave out. */
async function expectNoForgery(stage: Stage, session: string): Promise<void> {
  const forged = randomUUID();
  const [file = ""] = stage.filesOf(session);
  // A name may have no more of it than its beginning.
  const named = file.includes(session) ? session.length : 8;
  const copy = file.replace(session.slice(0, named), forged.slice(0, named));
  mkdirSync(dirname(copy), { recursive: true });
  copyFileSync(file, copy);
  await expectNotAdopted(stage, forged, 5);
  rmSync(copy);
}

async function expectNotAdopted(stage: Stage, session: string, code: number): Promise<void> {
  const refused = await stage.perdure(["adopt", "w", "--vendor", stage.vendor.name, "--session", session]);
  assert.equal(refused.code, code, refused.stdout + refused.stderr);
  assert.ok(refused.stderr.includes(session) && refused.stderr.includes("→"), refused.stderr);
  const shown = await stage.perdure(["show", "w"]);
  assert.equal(shown.code, 3, "nothing of it remains, not even the name");
}

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { headlessCommand, runIn } from "../harness/commands.ts";
import type { Case } from "../case.ts";
import { loss } from "../damage.ts";
import { expectRefused, expectTold } from "../expect.ts";
import type { LiveSetup } from "../setup.ts";

export const unknownConversation: Case = {
  letter: "g",
  title: "an unknown conversation is refused, a real one adopted",
  modes: ["headless", "tui"],
  core: true,
  async run(setup) {
    await expectNotAdopted(setup, randomUUID(), 3);

    const byHand = await runIn(setup.home, headlessCommand(setup.vendor, [], "by hand"));
    assert.equal(byHand.code, 0, byHand.stderr);
    const session = await byItself(setup);
    if (setup.traits.database === null) await expectNoForgery(setup, session);

    const adopted = await setup.perdure(["adopt", "w", "--vendor", setup.vendor.name, "--conversation", session]);
    assert.equal(adopted.code, 0, adopted.stderr);
    const worker = setup.worker("w", { said: "by hand" });

    // The id stays on record, and the vendor knows nothing of it any more.
    const { says, does, undo } = loss(setup, session);
    setup.hideCopies();
    await does();
    await expectRefused(setup, worker, { code: 5, says: [says, session, "→"] });
    await undo();

    const request = await worker.say("by perdure");
    assert.equal(await expectTold(setup, worker, request, ["by hand", "by perdure"]), session);
    assert.deepEqual(
      (await worker.history()).sessions.map(({ provenance }) => provenance),
      ["adopted"],
    );
  },
};

/** The one conversation there is. */
async function byItself(setup: LiveSetup): Promise<string> {
  const [found = ""] = await setup.conversations();
  const ids = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
  if (setup.traits.database !== null) return found;
  return ids.exec(found)?.[0] ?? ids.exec(readFileSync(found, "utf8"))?.[0] ?? found;
}

/** Another's conversation under an id the vendor never gave out. */
async function expectNoForgery(setup: LiveSetup, session: string): Promise<void> {
  const forged = randomUUID();
  const [file = ""] = setup.filesOf(session);
  // A name may have no more of it than its beginning.
  const named = file.includes(session) ? session.length : 8;
  const copy = file.replace(session.slice(0, named), forged.slice(0, named));
  mkdirSync(dirname(copy), { recursive: true });
  copyFileSync(file, copy);
  await expectNotAdopted(setup, forged, 5);
  rmSync(copy);
}

async function expectNotAdopted(setup: LiveSetup, session: string, code: number): Promise<void> {
  const refused = await setup.perdure(["adopt", "w", "--vendor", setup.vendor.name, "--conversation", session]);
  assert.equal(refused.code, code, refused.stdout + refused.stderr);
  assert.ok(refused.stderr.includes(session) && refused.stderr.includes("→"), refused.stderr);
  const shown = await setup.perdure(["show", "w"]);
  assert.equal(shown.code, 3, "nothing of it remains, not even the name");
}

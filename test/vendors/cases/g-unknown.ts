import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { copyFileSync, readFileSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { headlessCommand, runIn } from "../bed/commands.ts";
import type { Case } from "../case.ts";
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
    const [file = ""] = stage.transcripts();
    const ids = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
    const session = ids.exec(basename(file))?.[0] ?? ids.exec(readFileSync(file, "utf8"))?.[0] ?? "";

    // Another's conversation under an id the vendor never gave out.
    const forged = randomUUID();
    const named = basename(file).includes(session) ? session.length : 8;
    const copy = file.replace(session.slice(0, named), forged.slice(0, named));
    copyFileSync(file, copy);
    await expectNotAdopted(stage, forged, 5);
    rmSync(copy);

    const adopted = await stage.perdure(["adopt", "w", "--vendor", stage.vendor.name, "--session", session]);
    assert.equal(adopted.code, 0, adopted.stderr);
    const worker = stage.worker("w");

    // The id stays on record, and the vendor knows nothing of it any more.
    const away = join(stage.home.dir, "away");
    renameSync(file, away);
    await expectRefused(stage, worker, { code: 5, says: ["is gone", session, "→"] });
    renameSync(away, file);

    const request = await worker.say("by perdure");
    assert.equal(await expectTold(stage, worker, request, ["by hand", "by perdure"]), session);
    assert.deepEqual(
      (await worker.history()).sessions.map(({ provenance }) => provenance),
      ["adopted"],
    );
  },
};

async function expectNotAdopted(stage: Stage, session: string, code: number): Promise<void> {
  const refused = await stage.perdure(["adopt", "w", "--vendor", stage.vendor.name, "--session", session]);
  assert.equal(refused.code, code, refused.stdout + refused.stderr);
  assert.ok(refused.stderr.includes(session) && refused.stderr.includes("→"), refused.stderr);
  const shown = await stage.perdure(["show", "w"]);
  assert.equal(shown.code, 3, "nothing of it remains, not even the name");
}

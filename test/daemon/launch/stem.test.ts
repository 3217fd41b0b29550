import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { DrillResult } from "../../../src/protocol/records/conversation.ts";
import type { InstalledPersona } from "../../support/persona.ts";
import { personaInstaller } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();

async function spoken(persona: InstalledPersona, name: string): Promise<string> {
  const talk = await persona.begin(name);
  await talk.say(`the secret of ${name}`);
  const { session } = await persona.untilProved(name);
  await talk.end();
  await persona.untilEndRecorded(name);
  return session?.id ?? "";
}

/** Writes down, as codex does in a branch, that what was said before it is in another conversation. */
function referTo(file: string, stem: string): void {
  const [head = "", ...rest] = readFileSync(file, "utf8").split("\n");
  const line = JSON.parse(head) as { payload: object };
  const payload = { ...line.payload, history_base: { thread_id: stem } };
  writeFileSync(file, [JSON.stringify({ ...line, payload }), ...rest].join("\n"));
}

it("A6: a branch whose stem its vendor has lost gets it back from the copy, or is refused by drill and run alike", async () => {
  const persona = installPersona("codex");
  const { home } = persona;
  const stem = await spoken(persona, "other");
  const id = await spoken(persona, "coder");
  referTo(persona.transcript(id) ?? "", stem);
  expect(await home.perdure(["adopt", "coder", "--vendor", "codex", "--conversation", id])).toMatchObject({ code: 0 });
  const drill = async (): Promise<DrillResult | undefined> => {
    const { stdout } = await home.perdure(["drill", "coder", "--json"]);
    return (JSON.parse(stdout) as { workers: DrillResult[] }).workers[0];
  };

  const lost = persona.transcript(stem) ?? "";
  rmSync(lost);
  expect(await drill()).toMatchObject({ ok: true });
  expect(existsSync(lost)).toBe(false);
  const { talk, banner } = await persona.resume("coder");
  expect(banner).toEqual({ session: id, turns: 1 });
  expect(existsSync(lost)).toBe(true);
  await talk.end();
  await persona.untilEndRecorded("coder");

  rmSync(lost);
  renameSync(join(home.state, "custody"), join(home.dir, "hidden"));
  const drilled = await drill();
  expect(drilled).toMatchObject({ ok: false });
  expect(drilled?.reason).toContain(`the conversation ${stem}, which it is a branch of, is gone`);
  const starts = persona.starts().length;
  const refused = await home.perdure(["run", "coder"]);
  expect(refused.code).toBe(5);
  expect(refused.stderr).toContain(drilled?.reason);
  expect(persona.starts()).toHaveLength(starts);
});

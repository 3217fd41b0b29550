import { mkdirSync, renameSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, it } from "vitest";
import type { DrillResult } from "../../../src/protocol/records/conversation.ts";
import { personaInstaller } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();

it("A6: a conversation that its user has archived is refused by drill and run alike, and comes back by its vendor's command", async () => {
  const persona = installPersona("codex");
  const { home } = persona;
  const talk = await persona.begin("coder");
  await talk.say("the secret");
  const id = (await persona.untilProved("coder")).session?.id ?? "";
  await talk.end();
  await persona.untilEndRecorded("coder");
  const drill = async (): Promise<DrillResult | undefined> => {
    const { stdout } = await home.perdure(["drill", "--json"]);
    return (JSON.parse(stdout) as { workers: DrillResult[] }).workers[0];
  };
  expect((await drill())?.ok).toBe(true);

  const transcript = persona.transcript(id) ?? "";
  const archive = join(persona.configDir, "archived_sessions");
  mkdirSync(archive);
  renameSync(transcript, join(archive, basename(transcript)));
  const starts = persona.starts().length;
  const drilled = await drill();
  expect(drilled).toMatchObject({ ok: false });
  expect(drilled?.reason).toContain("is archived");
  expect(drilled?.hint).toContain(`codex unarchive ${id}`);
  // The copy is as good as it was.
  expect(drilled?.checks.find(({ check }) => check === "custody")?.detail).toBe("perdure's copy is intact");
  const refused = await home.perdure(["run", "coder"]);
  expect(refused.code).toBe(5);
  expect(refused.stderr).toContain(drilled?.reason);
  expect(refused.stderr).toContain(drilled?.hint);
  expect(persona.starts()).toHaveLength(starts);
  expect(persona.transcript(id)).toBeNull();

  renameSync(join(archive, basename(transcript)), transcript);
  expect((await drill())?.ok).toBe(true);
  const { talk: back, banner } = await persona.resume("coder");
  expect(banner).toEqual({ session: id, turns: 1 });
  await back.end();
});

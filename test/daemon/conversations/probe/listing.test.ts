import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { FoundRecord } from "../../../../src/protocol/records/conversation.ts";
import { describe, expect, it } from "vitest";
import { VENDORS } from "../../../support/persona-facts.ts";
import { readBanner, type InstalledPersona } from "../../../support/persona.ts";
import { personaInstaller } from "../../../support/persona-installer.ts";

const installPersona = personaInstaller();

async function listed(persona: InstalledPersona, words: string[] = []): Promise<FoundRecord[]> {
  const { conversations } = await persona.home.json<{ conversations: FoundRecord[] }>(["adopt", ...words]);
  return conversations.filter(({ vendor }) => vendor === persona.facts.vendor);
}

describe.each(VENDORS)("%s", (vendor) => {
  it("lists what was begun here by hand, with its last words and whether it is open, to pick from by a few letters", async () => {
    const persona = installPersona(vendor);
    const talk = persona.runDirectly([]);
    const { session: id } = readBanner(await talk.answer());
    await talk.say("the first words");
    await talk.say("the last words");
    const elsewhere = join(persona.home.dir, "elsewhere");
    mkdirSync(elsewhere);
    const other = persona.runDirectly([], { cwd: elsewhere });
    await other.answer();
    await other.say("not here");
    await other.end();

    const open = { id, vendor, words: "the last words", cwd: persona.home.project, openIn: talk.pid, worker: null };
    expect(await listed(persona)).toMatchObject([open]);
    await talk.end();
    expect(await listed(persona)).toMatchObject([{ ...open, openIn: null }]);
    expect((await listed(persona, ["--all"])).map(({ words }) => words)).toEqual(["not here", "the last words"]);

    const start = vendor === "codex" ? id.slice(0, -1) : id.slice(0, 8);
    expect(await persona.home.perdure(["adopt", "coder", "--conversation", start])).toMatchObject({ code: 0 });
    expect(await listed(persona)).toMatchObject([{ id, worker: "api/coder" }]);
    expect((await persona.resume("coder")).banner).toEqual({ session: id, turns: 2 });
  });
});

it("an id that fits nothing, or too much, says what to do", async () => {
  const persona = installPersona("scripted");
  for (const id of ["aaaa1111", "aaaa2222"]) {
    const talk = persona.runDirectly(["--session-id", id]);
    await talk.answer();
    await talk.say("x");
    await talk.end();
  }
  const several = await persona.home.perdure(["adopt", "coder", "--conversation", "aaaa"]);
  expect(several).toMatchObject({ code: 2 });
  expect(several.stderr).toMatch(
    /aaaa2222 \(scripted\), aaaa1111 \(scripted\)|aaaa1111 \(scripted\), aaaa2222 \(scripted\)/,
  );
  const none = await persona.home.perdure(["adopt", "coder", "--conversation", "bbbb"]);
  expect(none).toMatchObject({ code: 3 });
  expect(none.stderr).toContain("perdure adopt --all");
  expect((await persona.home.perdure(["adopt", "coder"])).code).toBe(2);
  // As `ls` shows it: by its end.
  const end = await persona.home.perdure(["adopt", "coder", "--conversation", "…a2222"]);
  expect(end).toMatchObject({ code: 0, stdout: expect.stringContaining("aaaa2222") as string });
});

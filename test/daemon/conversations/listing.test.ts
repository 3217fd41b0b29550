import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { FoundRecord } from "../../../src/protocol/records/conversation.ts";
import { VENDORS } from "../../campaigns/support/costume-looks.ts";
import { readBanner, type Costume } from "../../campaigns/support/costume.ts";
import { scenes } from "./scene.ts";

const scene = scenes();

async function listed(costume: Costume, words: string[] = []): Promise<FoundRecord[]> {
  const { conversations } = await costume.home.json<{ conversations: FoundRecord[] }>(["adopt", ...words]);
  return conversations.filter(({ vendor }) => vendor === costume.look.vendor);
}

describe.each(VENDORS)("%s", (vendor) => {
  it("lists what was begun here by hand, with its last words and whether it is open, to pick from by a few letters", async () => {
    const costume = scene(vendor);
    const talk = costume.alone([]);
    const { session: id } = readBanner(await talk.answer());
    await talk.say("the first words");
    await talk.say("the last words");
    const elsewhere = join(costume.home.dir, "elsewhere");
    mkdirSync(elsewhere);
    const other = costume.alone([], { cwd: elsewhere });
    await other.answer();
    await other.say("not here");
    await other.end();

    const open = { id, vendor, words: "the last words", cwd: costume.home.project, openIn: talk.pid, worker: null };
    expect(await listed(costume)).toMatchObject([open]);
    await talk.end();
    expect(await listed(costume)).toMatchObject([{ ...open, openIn: null }]);
    expect((await listed(costume, ["--all"])).map(({ words }) => words)).toEqual(["not here", "the last words"]);

    const start = vendor === "codex" ? id.slice(0, -1) : id.slice(0, 8);
    expect(await costume.home.perdure(["adopt", "coder", "--session", start])).toMatchObject({ code: 0 });
    expect(await listed(costume)).toMatchObject([{ id, worker: "api/coder" }]);
    expect((await costume.resume("coder")).banner).toEqual({ session: id, turns: 2 });
  });
});

it("an id that fits nothing, or too much, says what to do", async () => {
  const costume = scene("scripted");
  for (const id of ["aaaa1111", "aaaa2222"]) {
    const talk = costume.alone(["--session-id", id]);
    await talk.answer();
    await talk.say("x");
    await talk.end();
  }
  const several = await costume.home.perdure(["adopt", "coder", "--session", "aaaa"]);
  expect(several).toMatchObject({ code: 2 });
  expect(several.stderr).toMatch(
    /aaaa2222 \(scripted\), aaaa1111 \(scripted\)|aaaa1111 \(scripted\), aaaa2222 \(scripted\)/,
  );
  const none = await costume.home.perdure(["adopt", "coder", "--session", "bbbb"]);
  expect(none).toMatchObject({ code: 3 });
  expect(none.stderr).toContain("perdure adopt --all");
  expect((await costume.home.perdure(["adopt", "coder"])).code).toBe(2);
  // As `ls` shows it: by its end.
  const end = await costume.home.perdure(["adopt", "coder", "--session", "…a2222"]);
  expect(end).toMatchObject({ code: 0, stdout: expect.stringContaining("aaaa2222") as string });
});

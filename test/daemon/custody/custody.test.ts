import { existsSync, globSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { VENDORS } from "../../campaigns/support/costume-looks.ts";
import type { Costume } from "../../campaigns/support/costume.ts";
import { idIn, scenes } from "../conversations/scene.ts";

const scene = scenes();

/** A worker that has said something and ended, with a copy of all of it kept. */
async function ended(costume: Costume, ...prompts: string[]): Promise<{ id: string; file: string }> {
  const talk = await costume.begin("coder");
  for (const prompt of prompts) await talk.say(prompt);
  const id = (await costume.proved("coder")).session?.id ?? "";
  await talk.end();
  await kept(costume, id);
  // From here on nobody looks: what happens to the file happens behind everybody's back.
  await costume.home.perdure(["daemon", "stop"]);
  return { id, file: costume.transcript(id) ?? "" };
}

async function kept(costume: Costume, id: string): Promise<void> {
  await costume.until("coder", "to be copied", ({ conversation }) => {
    const file = costume.transcript(id);
    return conversation?.custody?.bytes === (file === null ? -1 : statSync(file).size);
  });
}

function copies(costume: Costume): string[] {
  return globSync("custody/*/transcript", { cwd: costume.home.state }).map((path) => join(costume.home.state, path));
}

function refused(costume: Costume): Promise<{ code: number; stderr: string }> {
  return costume.home.perdure(["run", "coder"]);
}

describe.each(VENDORS)("%s", (vendor) => {
  it.each(["deleted", "emptied"])(
    "a transcript that the vendor has %s is put back: same id, same turns",
    async (how) => {
      const costume = scene(vendor);
      const { id, file } = await ended(costume, "one", "two");
      const before = readFileSync(file);
      if (how === "deleted") rmSync(file);
      else writeFileSync(file, "");

      const { talk, banner } = await costume.resume("coder");
      expect(banner).toEqual({ session: id, turns: 2 });
      expect(readFileSync(file).subarray(0, before.length)).toEqual(before);
      expect(await talk.say("three")).toContain("turns=3 first=one last=three");
      expect((await talk.end()).stderr).toContain("put back from the copy");
      expect(await costume.events("session.restored")).toMatchObject([
        { data: { session: id, bytes: before.length, missingBytes: 0 } },
      ]);
    },
  );

  it("a copy that is not what was put away is never put back", async () => {
    const costume = scene(vendor);
    const { id, file } = await ended(costume, "one");
    const [copy = ""] = copies(costume);
    writeFileSync(copy, readFileSync(copy, "utf8").replace("one", "eno"));
    rmSync(file);
    const { code, stderr } = await refused(costume);
    expect({ code, gone: stderr.includes("is gone"), id: stderr.includes(id) }).toEqual({
      code: 5,
      gone: true,
      id: true,
    });
    expect(existsSync(file)).toBe(false);
  });

  it("what was changed in place is refused; the operator may go back to the copy, and the change is set aside", async () => {
    const costume = scene(vendor);
    const { id, file } = await ended(costume, "one", "two");
    const before = readFileSync(file, "utf8");
    const changed = before.replace("one", "eno");
    writeFileSync(file, changed);
    const { code, stderr } = await refused(costume);
    expect(code).toBe(5);
    expect(stderr).toContain("somebody has changed it");
    expect(stderr).toContain("perdure adopt coder --kept");
    expect((await costume.show("coder")).state).toBe("unresumable");

    expect(await costume.home.perdure(["adopt", "coder", "--kept"])).toMatchObject({ code: 0 });
    expect(readFileSync(`${file}.lost`, "utf8")).toBe(changed);
    expect((await costume.resume("coder")).banner).toEqual({ session: id, turns: 2 });
    expect(readFileSync(file, "utf8").startsWith(before)).toBe(true);
  });

  it("or may take the change as it is", async () => {
    const costume = scene(vendor);
    const { id, file } = await ended(costume, "one", "two");
    writeFileSync(file, readFileSync(file, "utf8").replaceAll("one", "eno"));
    expect((await refused(costume)).code).toBe(5);
    expect(await costume.home.perdure(["adopt", "coder", "--vendor", vendor, "--session", id])).toMatchObject({
      code: 0,
    });
    const { talk } = await costume.resume("coder");
    expect(await talk.say("three")).toContain("turns=3 first=eno");
  });
});

it("is copied while an agent works, not only at its end", async () => {
  const costume = scene("scripted");
  const talk = await costume.begin("coder");
  await talk.say("one");
  const id = (await costume.proved("coder")).session?.id ?? "";
  talk.type("/sleep 600000");
  await costume.until("coder", "to be busy", ({ state }) => state === "busy");
  await kept(costume, id);
  await costume.kill("coder", talk);
  rmSync(costume.transcript(id) ?? "");
  expect((await costume.resume("coder")).banner).toEqual({ session: id, turns: 1 });
});

it("both ends of a rotation are kept", async () => {
  const costume = scene("scripted");
  const talk = await costume.begin("coder");
  await talk.say("one");
  await costume.proved("coder");
  const second = idIn(await talk.say("/clear"));
  await costume.until("coder", "to have rotated", ({ session }) => session?.id === second);
  await talk.say("two");
  await talk.end();
  await costume.settled("coder");
  const both = async (): Promise<boolean> => {
    const { sessions } = await costume.history("coder");
    return sessions.length === 2 && sessions.every(({ custody }) => custody !== null);
  };
  await expect.poll(both, { timeout: 10_000 }).toBe(true);
  expect(copies(costume)).toHaveLength(2);
});

it("a power cut takes the end of a transcript, which a copy that was synced still has", async () => {
  const costume = scene("scripted");
  const { id, file } = await ended(costume, "one", "two");
  const database = new DatabaseSync(join(costume.home.state, "perdure.db"));
  database.exec("UPDATE sessions SET transcript_boot = 'another boot'");
  database.close();
  const lines = readFileSync(file, "utf8").split("\n");
  writeFileSync(file, `${lines.slice(0, 3).join("\n")}\n`);
  expect((await costume.resume("coder")).banner).toEqual({ session: id, turns: 2 });
});

it("copies are the user's alone", async () => {
  const costume = scene("scripted");
  await ended(costume, "one");
  expect(copies(costume).map((file) => statSync(file).mode & 0o777)).toEqual([0o600]);
  expect(statSync(join(costume.home.state, "custody")).mode & 0o777).toBe(0o700);
});

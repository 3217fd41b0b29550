import {
  existsSync,
  globSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { eventually } from "../../support/check.ts";
import { VENDORS } from "../../support/persona-facts.ts";
import type { InstalledPersona } from "../../support/persona.ts";
import { sessionIdIn, personaInstaller } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();

/** A worker that has said something and ended, with a copy of all of it kept. */
async function ended(persona: InstalledPersona, ...prompts: string[]): Promise<{ id: string; file: string }> {
  const talk = await persona.begin("coder");
  for (const prompt of prompts) await talk.say(prompt);
  const id = (await persona.untilProved("coder")).session?.id ?? "";
  await talk.end();
  await kept(persona, id);
  // From here on nobody looks: what happens to the file happens behind everybody's back.
  await persona.home.perdure(["daemon", "stop"]);
  return { id, file: persona.transcript(id) ?? "" };
}

async function kept(persona: InstalledPersona, id: string): Promise<void> {
  await persona.until("coder", "to be copied", ({ conversation }) => {
    const file = persona.transcript(id);
    return conversation?.custody?.bytes === (file === null ? -1 : statSync(file).size);
  });
}

function copies(persona: InstalledPersona): string[] {
  return globSync("custody/*/transcript", { cwd: persona.home.state }).map((path) => join(persona.home.state, path));
}

function refused(persona: InstalledPersona): Promise<{ code: number; stderr: string }> {
  return persona.home.perdure(["run", "coder"]);
}

describe.each(VENDORS)("%s", (vendor) => {
  it.each(["deleted", "emptied"])(
    "a transcript that the vendor has %s is put back: same id, same turns",
    async (how) => {
      const persona = installPersona(vendor);
      const { id, file } = await ended(persona, "one", "two");
      const before = readFileSync(file);
      if (how === "deleted") rmSync(file);
      else writeFileSync(file, "");

      const { talk, banner } = await persona.resume("coder");
      expect(banner).toEqual({ session: id, turns: 2 });
      expect(readFileSync(file).subarray(0, before.length)).toEqual(before);
      expect(await talk.say("three")).toContain("turns=3 first=one last=three");
      expect((await talk.end()).stderr).toContain("restored from perdure's copy");
      expect(await persona.events("session.restored")).toMatchObject([
        { data: { session: id, bytes: before.length, missingBytes: 0 } },
      ]);
    },
  );

  it("a copy that is not what was put away is never put back", async () => {
    const persona = installPersona(vendor);
    const { id, file } = await ended(persona, "one");
    const [copy = ""] = copies(persona);
    writeFileSync(copy, readFileSync(copy, "utf8").replace("one", "eno"));
    rmSync(file);
    const { code, stderr } = await refused(persona);
    expect({ code, gone: stderr.includes("is gone"), id: stderr.includes(id) }).toEqual({
      code: 5,
      gone: true,
      id: true,
    });
    expect(existsSync(file)).toBe(false);
  });

  it.each(["gone", "damaged"])(
    "A6: a transcript that was cut short is not copied in the place of a copy that is %s, nor offered as that",
    async (how) => {
      const persona = installPersona(vendor);
      const { file } = await ended(persona, "one", "two");
      const [copy = ""] = copies(persona);
      if (how === "gone") rmSync(copy);
      else writeFileSync(copy, "x");
      writeFileSync(file, `${readFileSync(file, "utf8").trimEnd().split("\n").slice(0, -1).join("\n")}\n`);
      for (const words of [
        ["drill", "coder"],
        ["run", "coder"],
        ["run", "coder"],
      ]) {
        const { code, stdout, stderr } = await persona.home.perdure(words);
        expect({ words, code, text: stdout + stderr }).toMatchObject({ code: 5 });
        expect(stdout + stderr).toContain("was cut short");
        expect(stdout + stderr).not.toContain("--kept");
      }
      expect(existsSync(copy) ? readFileSync(copy, "utf8") : null).toBe(how === "gone" ? null : "x");
    },
  );

  it("what was changed in place is refused; the operator may go back to the copy, and the change is set aside", async () => {
    const persona = installPersona(vendor);
    const { id, file } = await ended(persona, "one", "two");
    const before = readFileSync(file, "utf8");
    const changed = before.replace("one", "eno");
    writeFileSync(file, changed);
    const { code, stderr } = await refused(persona);
    expect(code).toBe(5);
    expect(stderr).toContain("its beginning was changed");
    expect(stderr).toContain("perdure adopt coder --kept");
    expect((await persona.show("coder")).state).toBe("unresumable");

    expect(await persona.home.perdure(["adopt", "coder", "--kept"])).toMatchObject({ code: 0 });
    expect(readFileSync(`${file}.lost`, "utf8")).toBe(changed);
    expect((await persona.resume("coder")).banner).toEqual({ session: id, turns: 2 });
    expect(readFileSync(file, "utf8").startsWith(before)).toBe(true);
  });

  it("A6: a change that keeps size and time of modification is refused, as drill says", async () => {
    const persona = installPersona(vendor);
    const { file } = await ended(persona, "one", "two");
    const { atimeMs, mtimeMs } = statSync(file);
    writeFileSync(file, readFileSync(file, "utf8").replace("one", "eno"));
    utimesSync(file, atimeMs / 1000, mtimeMs / 1000);
    expect((await persona.home.perdure(["drill", "coder"])).code).toBe(5);
    expect(await refused(persona)).toMatchObject({ code: 5, stderr: expect.stringContaining("was changed") as string });
  });

  it.each(["truncated", "replaced by an older copy"])(
    "A1: what is %s while its worker runs, and grows longer again, is told, and refused with both ways out",
    async (how) => {
      const persona = installPersona(vendor);
      const talk = await persona.begin("coder");
      await talk.say("one");
      const id = (await persona.untilProved("coder")).session?.id ?? "";
      const file = persona.transcript(id) ?? "";
      const early = readFileSync(file);
      await talk.say("two");
      await talk.say("three");
      await kept(persona, id);
      if (how === "truncated") truncateSync(file, early.length);
      else {
        writeFileSync(`${file}.old`, early);
        renameSync(`${file}.old`, file);
      }
      for (let turn = 0; turn < 4; turn++) await talk.say(`more ${"x".repeat(400)}`);
      await eventually("the change to be told", async () => (await persona.events("session.changed")).length > 0);
      const [told] = await persona.events("session.changed");
      expect(told).toMatchObject({ worker: "coder", data: { session: id, file } });
      expect(String(told?.data.why)).toMatch(/its beginning was changed: \d+ of the lines that it had are gone/);
      await talk.end();
      await persona.untilEndRecorded("coder");

      const drill = await persona.home.perdure(["drill", "coder"]);
      expect(drill).toMatchObject({ code: 5, stdout: expect.stringMatching(/lines that it had are gone/) as string });
      const { code, stderr } = await refused(persona);
      expect(code).toBe(5);
      expect(stderr).toMatch(/its beginning was changed: \d+ of the lines/);
      expect(stderr).toContain("perdure adopt coder --kept");
      expect(stderr).toContain(`--conversation ${id}`);
      expect(await persona.home.perdure(["adopt", "coder", "--kept"])).toMatchObject({ code: 0 });
      expect((await persona.resume("coder")).banner).toEqual({ session: id, turns: 3 });
    },
  );

  it("A1: what is changed inside a transcript while its worker runs is refused, though it has grown since", async () => {
    const persona = installPersona(vendor);
    const talk = await persona.begin("coder");
    await talk.say("one");
    const id = (await persona.untilProved("coder")).session?.id ?? "";
    await talk.say(`two ${"y".repeat(8_000)}`);
    await kept(persona, id);
    const file = persona.transcript(id) ?? "";
    const { ino } = statSync(file);
    // In the same file, and far from its end.
    writeFileSync(file, readFileSync(file, "utf8").replace("one", "eno"), { flag: "r+" });
    expect(statSync(file).ino).toBe(ino);
    await talk.say("three");
    await kept(persona, id);
    await talk.end();
    await persona.untilEndRecorded("coder");
    expect(await refused(persona)).toMatchObject({ code: 5, stderr: expect.stringContaining("was changed") as string });
    expect((await persona.home.perdure(["drill", "coder"])).code).toBe(5);
  });

  it("the operator may also take the change as it is", async () => {
    const persona = installPersona(vendor);
    const { id, file } = await ended(persona, "one", "two");
    writeFileSync(file, readFileSync(file, "utf8").replaceAll("one", "eno"));
    expect((await refused(persona)).code).toBe(5);
    expect(await persona.home.perdure(["adopt", "coder", "--vendor", vendor, "--conversation", id])).toMatchObject({
      code: 0,
    });
    const { talk } = await persona.resume("coder");
    expect(await talk.say("three")).toContain("turns=3 first=eno");
  });
});

it("a conversation is copied while the agent works, not only at its end", async () => {
  const persona = installPersona("scripted");
  const talk = await persona.begin("coder");
  await talk.say("one");
  const id = (await persona.untilProved("coder")).session?.id ?? "";
  talk.type("/sleep 600000");
  await persona.until("coder", "to be busy", ({ state }) => state === "busy");
  await kept(persona, id);
  await persona.kill("coder", talk);
  rmSync(persona.transcript(id) ?? "");
  expect((await persona.resume("coder")).banner).toEqual({ session: id, turns: 1 });
});

it("both ends of a rotation are kept", async () => {
  const persona = installPersona("scripted");
  const talk = await persona.begin("coder");
  await talk.say("one");
  await persona.untilProved("coder");
  const second = sessionIdIn(await talk.say("/clear"));
  await persona.until("coder", "to have rotated", ({ session }) => session?.id === second);
  await talk.say("two");
  await talk.end();
  await persona.untilEndRecorded("coder");
  const both = async (): Promise<boolean> => {
    const { sessions } = await persona.history("coder");
    return sessions.length === 2 && sessions.every(({ custody }) => custody !== null);
  };
  await expect.poll(both, { timeout: 10_000 }).toBe(true);
  expect(copies(persona)).toHaveLength(2);
});

it("a power cut takes the end of a transcript, which a copy that was synced still has", async () => {
  const persona = installPersona("scripted");
  const { id, file } = await ended(persona, "one", "two");
  const database = new DatabaseSync(join(persona.home.state, "perdure.db"));
  database.exec("UPDATE sessions SET transcript_boot = 'another boot'");
  database.close();
  const lines = readFileSync(file, "utf8").split("\n");
  writeFileSync(file, `${lines.slice(0, 3).join("\n")}\n`);
  expect((await persona.resume("coder")).banner).toEqual({ session: id, turns: 2 });
});

it("copies are the user's alone", async () => {
  const persona = installPersona("scripted");
  await ended(persona, "one");
  expect(copies(persona).map((file) => statSync(file).mode & 0o777)).toEqual([0o600]);
  expect(statSync(join(persona.home.state, "custody")).mode & 0o777).toBe(0o700);
});

describe.each(VENDORS)("%s, whose transcript is deleted at the end of a run", (vendor) => {
  it("A7: says that what its last run wrote after the copy is lost: at the start, in the drill, in events and history", async () => {
    const persona = installPersona(vendor);
    const talk = await persona.begin("coder");
    await talk.say("one");
    const id = (await persona.untilProved("coder")).session?.id ?? "";
    await kept(persona, id);
    // Nobody copies what is said now.
    await persona.home.perdure(["daemon", "stop"]);
    await talk.say("two");
    await talk.end();
    rmSync(persona.transcript(id) ?? "");

    const said = /what its last run wrote after \S+ is lost, if it wrote anything|[1-9]\d* bytes .* are lost/;
    expect((await persona.home.perdure(["drill"])).stdout).toMatch(said);
    const again = await persona.resume("coder");
    expect(again.banner).toEqual({ session: id, turns: 1 });
    expect((await again.talk.end()).stderr).toMatch(said);
    const [event] = await persona.events("session.restored");
    expect(JSON.stringify(event?.data)).toMatch(/behindSince|"missingBytes":[1-9]/);
    expect((await persona.home.perdure(["history", "coder"])).stdout).toMatch(said);
  });

  it("A7: is copied before the end is published: what was said last comes back, and nothing is said to be lost", async () => {
    const persona = installPersona(vendor);
    const talk = await persona.begin("coder");
    await talk.say("one");
    const id = (await persona.untilProved("coder")).session?.id ?? "";
    await kept(persona, id);
    await talk.say("two");
    await persona.kill("coder", talk);
    await persona.until("coder", "to end", ({ run }) => run === null);
    rmSync(persona.transcript(id) ?? "");
    const again = await persona.resume("coder");
    expect(again.banner).toEqual({ session: id, turns: 2 });
  });
});

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { readBanner, type InstalledPersona } from "../../support/persona.ts";
import { personaInstaller } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();

it("a branch begins with all that was said, under an id of its own, and the stem stays as it is", async () => {
  const persona = installPersona("scripted");
  const stem = await persona.begin("coder");
  await stem.say("one");
  const from = (await persona.untilProved("coder")).session?.id ?? "";

  // The stem goes on running.
  expect(await persona.home.perdure(["fork", "coder", "twin"])).toMatchObject({ code: 0 });
  const twin = persona.run("twin");
  const { session: id, turns } = readBanner(await twin.answer());
  expect({ other: id !== from, turns }).toEqual({ other: true, turns: 1 });
  expect(await twin.say("two")).toContain("turns=2 first=one last=two");
  expect(await stem.say("three")).toContain("turns=2 first=one last=three");
  await persona.untilProved("twin");
  await twin.end();
  await stem.end();

  expect((await persona.resume("twin")).banner).toEqual({ session: id, turns: 2 });
  const { sessions } = await persona.history("twin");
  expect(sessions.map((each) => [each.id, each.forkedFrom, each.rotatedFrom])).toEqual([[id, from, null]]);
});

it("a branch that was killed before its first prompt is made again, under the same id", async () => {
  const persona = installPersona("scripted");
  const stem = await persona.begin("coder");
  await stem.say("one");
  await persona.untilProved("coder");
  await stem.end();
  await persona.home.perdure(["fork", "coder", "twin"]);
  const from = (await persona.untilProved("coder")).session?.id ?? "";
  const drill = await persona.home.perdure(["drill", "twin"]);
  expect(drill).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`begins as a branch of scripted conversation ${from}`) as string,
  });
  const first = persona.run("twin");
  const { session: id } = readBanner(await first.answer());
  await persona.kill("twin", first);
  expect((await persona.resume("twin")).banner).toEqual({ session: id, turns: 1 });
});

it("a fork that cannot be made is refused, and leaves no name behind", async () => {
  const persona = installPersona("scripted");
  await persona.home.perdure(["run", "plain", "--", "true"]);
  expect(await persona.home.perdure(["fork", "plain", "twin"])).toMatchObject({ code: 2 });
  await (await persona.begin("silent")).end();
  expect(await persona.home.perdure(["fork", "silent", "twin"])).toMatchObject({ code: 5 });
  const coder = await persona.begin("coder");
  await coder.say("one");
  await persona.untilProved("coder");
  await coder.end();
  expect(await persona.home.perdure(["fork", "coder", "silent"])).toMatchObject({ code: 4 });
  expect(await persona.home.perdure(["fork", "nobody", "twin"])).toMatchObject({ code: 3 });
  const { workers } = await persona.home.json<{ workers: { name: string }[] }>(["ls"]);
  expect(workers.map(({ name }) => name)).toEqual(["coder", "plain", "silent"]);
});

/** A stem with three turns, as a worker that does not run, and its transcript. */
async function stemOf(persona: InstalledPersona): Promise<{ file: string; whole: string; session: string }> {
  const stem = await persona.begin("coder");
  for (const text of ["one", "two", "three"]) await stem.say(text);
  const session = (await persona.untilProved("coder")).session?.id ?? "";
  await stem.end();
  await persona.untilEndRecorded("coder");
  const file = persona.transcript(session) ?? "";
  return { file, whole: readFileSync(file, "utf8"), session };
}

it.each([
  ["was cut short", (whole: string) => whole.split("\n").slice(0, 3).join("\n")],
  ["its beginning was changed", (whole: string) => whole.replace("one", "ONE")],
])("A5: a stem that is damaged (%s) is not branched, by drill and run alike", async (says, damaged) => {
  const persona = installPersona("scripted");
  const { home } = persona;
  const { file, whole, session } = await stemOf(persona);
  await home.perdure(["fork", "coder", "twin"]);
  writeFileSync(file, damaged(whole));

  const drill = await home.perdure(["drill", "twin"]);
  expect(drill).toMatchObject({ code: 5, stdout: expect.stringContaining(says) as string });
  const starts = persona.starts().length;
  const refused = await home.perdure(["run", "twin"]);
  expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining(says) as string });
  expect(refused.stderr).toContain(session);
  expect(persona.starts()).toHaveLength(starts);
  expect(await home.perdure(["fork", "coder", "other"])).toMatchObject({ code: 5 });

  await home.perdure(["adopt", "coder", "--kept"]);
  expect((await persona.resume("twin")).banner.turns).toBe(3);
});

it.each(["gone", "emptied"])(
  "A7: a stem that its vendor has lost (%s) is put back before it is branched, and that is told",
  async (how) => {
    const persona = installPersona("scripted");
    const { home } = persona;
    const { file } = await stemOf(persona);
    await home.perdure(["fork", "coder", "twin"]);
    if (how === "gone") rmSync(file);
    else writeFileSync(file, "");

    expect(await home.perdure(["drill", "twin"])).toMatchObject({ code: 0 });
    const { talk, banner } = await persona.resume("twin");
    expect(banner.turns).toBe(3);
    expect((await talk.end()).stderr).toContain("restored from perdure's copy");
  },
);

it("A4: a branch that was killed when it had written nothing but an empty file begins as a branch again", async () => {
  const persona = installPersona("scripted");
  const { file } = await stemOf(persona);
  await persona.home.perdure(["fork", "coder", "twin"]);
  const first = persona.run("twin");
  const { session } = readBanner(await first.answer());
  await persona.kill("twin", first);
  writeFileSync(join(dirname(file), `${session}.jsonl`), "");
  expect(readBanner(await persona.run("twin").answer()).turns).toBe(3);
});

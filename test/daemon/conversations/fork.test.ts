import { expect, it } from "vitest";
import { readBanner } from "../../support/persona.ts";
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

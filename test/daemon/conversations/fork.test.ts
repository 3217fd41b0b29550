import { expect, it } from "vitest";
import { readBanner } from "../../campaigns/support/costume.ts";
import { scenes } from "./scene.ts";

const scene = scenes();

it("a branch begins with all that was said, under an id of its own, and the stem stays as it is", async () => {
  const costume = scene("scripted");
  const stem = await costume.begin("coder");
  await stem.say("one");
  const from = (await costume.proved("coder")).session?.id ?? "";

  // The stem goes on running.
  expect(await costume.home.perdure(["fork", "coder", "twin"])).toMatchObject({ code: 0 });
  const twin = costume.run("twin");
  const { session: id, turns } = readBanner(await twin.answer());
  expect({ other: id !== from, turns }).toEqual({ other: true, turns: 1 });
  expect(await twin.say("two")).toContain("turns=2 first=one last=two");
  expect(await stem.say("three")).toContain("turns=2 first=one last=three");
  await costume.proved("twin");
  await twin.end();
  await stem.end();

  expect((await costume.resume("twin")).banner).toEqual({ session: id, turns: 2 });
  const { sessions } = await costume.history("twin");
  expect(sessions.map((each) => [each.id, each.forkedFrom, each.rotatedFrom])).toEqual([[id, from, null]]);
});

it("killed before its first word, it branches again, under the same id", async () => {
  const costume = scene("scripted");
  const stem = await costume.begin("coder");
  await stem.say("one");
  await costume.proved("coder");
  await stem.end();
  await costume.home.perdure(["fork", "coder", "twin"]);
  const first = costume.run("twin");
  const { session: id } = readBanner(await first.answer());
  await costume.kill("twin", first);
  expect((await costume.resume("twin")).banner).toEqual({ session: id, turns: 1 });
});

it("what cannot be branched is refused, and leaves no name behind", async () => {
  const costume = scene("scripted");
  await costume.home.perdure(["run", "plain", "--", "true"]);
  expect(await costume.home.perdure(["fork", "plain", "twin"])).toMatchObject({ code: 2 });
  await (await costume.begin("silent")).end();
  expect(await costume.home.perdure(["fork", "silent", "twin"])).toMatchObject({ code: 5 });
  const coder = await costume.begin("coder");
  await coder.say("one");
  await costume.proved("coder");
  await coder.end();
  expect(await costume.home.perdure(["fork", "coder", "silent"])).toMatchObject({ code: 4 });
  expect(await costume.home.perdure(["fork", "nobody", "twin"])).toMatchObject({ code: 3 });
  const { workers } = await costume.home.json<{ workers: { name: string }[] }>(["ls"]);
  expect(workers.map(({ name }) => name)).toEqual(["coder", "plain", "silent"]);
});

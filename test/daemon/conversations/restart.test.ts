import { expect, it } from "vitest";
import { readBanner } from "../../support/persona.ts";
import { Talk } from "../../support/talk.ts";
import { personaInstaller } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();

it("restart stops the running one and goes on in its conversation; --fresh keeps that in the lineage", async () => {
  const persona = installPersona("scripted");
  const first = await persona.begin("coder");
  await first.say("one");
  const old = (await persona.untilProved("coder")).session?.id ?? "";

  const again = restart([]);
  expect(readBanner(await again.answer())).toEqual({ session: old, turns: 1 });
  const { stderr } = await first.ended;
  expect(stderr).toContain("to restart it");
  await persona.untilProved("coder");

  const fresh = restart(["--fresh"]);
  const { session: id, turns } = readBanner(await fresh.answer());
  expect({ other: id !== old, turns }).toEqual({ other: true, turns: 0 });
  await again.ended;
  await fresh.end();
  const { sessions, runs } = await persona.history("coder");
  expect(sessions.map((each) => [each.id, each.rotatedFrom])).toEqual([
    [id, old],
    [old, null],
  ]);
  expect(runs.map(({ reason }) => reason)).toEqual(["exited", "displaced", "displaced"]);
  expect((await persona.home.perdure(["restart", "nobody"])).code).toBe(3);

  function restart(words: string[]): Talk {
    const child = persona.home.spawn(["restart", "coder", ...words], { stdio: ["pipe", "pipe", "pipe"] });
    child.stdin?.on("error", () => undefined);
    return new Talk(child);
  }
});

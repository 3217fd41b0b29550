import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { VENDORS } from "../../support/persona-facts.ts";
import { readBanner, type InstalledPersona } from "../../support/persona.ts";
import type { Talk } from "../../support/talk.ts";
import type { Finished } from "../../support/home.ts";
import { personaInstaller } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();

/** A conversation begun without perdure, still open. */
async function byHand(persona: InstalledPersona): Promise<{ talk: Talk; id: string }> {
  const talk = persona.runDirectly([]);
  const { session: id } = readBanner(await talk.answer());
  await talk.say("the secret");
  return { talk, id };
}

function adopt(persona: InstalledPersona, name: string, id: string): Promise<Finished> {
  return persona.home.perdure(["adopt", name, "--vendor", persona.facts.vendor, "--conversation", id]);
}

describe.each(VENDORS)("%s", (vendor) => {
  it("adopts a conversation that was begun by hand", async () => {
    const persona = installPersona(vendor);
    const { talk, id } = await byHand(persona);
    await talk.end();
    expect(await adopt(persona, "coder", id)).toMatchObject({ code: 0 });
    expect((await persona.show("coder")).session).toMatchObject({ id, provenance: "adopted", proved: "pending" });

    const { talk: again, banner } = await persona.resume("coder");
    expect(banner).toEqual({ session: id, turns: 1 });
    expect(await again.say("more")).toContain("turns=2 first=the secret");
    expect((await persona.untilProved("coder")).session?.provenance).toBe("adopted");
  });

  it("does not adopt what is not there, and binds nothing", async () => {
    const persona = installPersona(vendor);
    const unknown = "01a1e1aa-9e03-74ec-be88-1b7038c2d5e4";
    const refused = await adopt(persona, "coder", unknown);
    expect(refused).toMatchObject({ code: 3, stdout: "" });
    expect(refused.stderr).toContain(unknown);
    expect((await persona.home.json<{ workers: unknown[] }>(["ls"])).workers).toEqual([]);
  });

  it("does not adopt one that is open, and says where", async () => {
    const persona = installPersona(vendor);
    const { talk, id } = await byHand(persona);
    const refused = await adopt(persona, "coder", id);
    expect(refused).toMatchObject({ code: 5, stdout: "" });
    expect(refused.stderr).toContain(`pid ${talk.pid}`);
    await talk.end();
    expect(await adopt(persona, "coder", id)).toMatchObject({ code: 0 });
  });

  it("does not adopt another worker's, until that one is retired", async () => {
    const persona = installPersona(vendor);
    const talk = await persona.begin("coder");
    await talk.say("the secret");
    const id = (await persona.untilProved("coder")).session?.id ?? "";
    await talk.end();
    const refused = await adopt(persona, "heir", id);
    expect(refused).toMatchObject({ code: 4, stdout: "" });
    expect(refused.stderr).toContain("coder");

    expect(await persona.home.perdure(["retire", "coder"])).toMatchObject({ code: 0 });
    expect(await adopt(persona, "heir", id)).toMatchObject({ code: 0 });
    const heir = await persona.resume("heir");
    expect(heir.banner).toEqual({ session: id, turns: 1 });
    expect(await heir.talk.say("more")).toContain("turns=2 first=the secret");

    const anew = persona.run("coder", ["--", persona.facts.program]);
    expect(readBanner(await anew.answer())).toMatchObject({ turns: 0 });
  });

  it("does not adopt anything for a worker that runs, and keeps what the worker was in", async () => {
    const persona = installPersona(vendor);
    const { talk: hand, id } = await byHand(persona);
    await hand.end();
    const talk = await persona.begin("coder");
    await talk.say("another secret");
    const own = (await persona.untilProved("coder")).session?.id;
    expect(await adopt(persona, "coder", id)).toMatchObject({ code: 4, stdout: "" });
    expect((await persona.show("coder")).session?.id).toBe(own);
    await talk.end();

    expect(await adopt(persona, "coder", id)).toMatchObject({ code: 0 });
    const { sessions } = await persona.history("coder");
    expect(sessions.map((each) => [each.id, each.current])).toEqual([
      [id, true],
      [own, false],
    ]);
    expect((await persona.resume("coder")).banner).toEqual({ session: id, turns: 1 });
  });
});

it("does not adopt another worker's by another config dir that is linked to the first", async () => {
  const persona = installPersona("claude");
  const talk = await persona.begin("coder");
  await talk.say("the secret");
  const id = (await persona.untilProved("coder")).session?.id ?? "";
  await talk.end();
  const second = join(persona.home.dir, "second");
  mkdirSync(second);
  symlinkSync(join(persona.configDir, "projects"), join(second, "projects"));
  persona.home.env.CLAUDE_CONFIG_DIR = second;
  const refused = await adopt(persona, "thief", id);
  expect(refused).toMatchObject({ code: 4, stdout: "" });
  expect(refused.stderr).toContain("belongs to coder");
});

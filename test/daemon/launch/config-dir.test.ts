import { cpSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { DrillResult } from "../../../src/protocol/records/conversation.ts";
import type { Finished } from "../../support/home.ts";
import { VENDORS } from "../../support/persona-facts.ts";
import { readBanner, type InstalledPersona } from "../../support/persona.ts";
import { personaInstaller } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();

/** A worker whose vendor keeps its conversations in a folder of its own, stopped. */
async function inFolder(persona: InstalledPersona, name: string, folder: string): Promise<string> {
  const env = { ...persona.home.env, [persona.facts.variable]: folder };
  const talk = await persona.begin(name, [], { env });
  await talk.say(`the secret of ${name}`);
  const { session, conversation } = await persona.untilProved(name);
  expect(conversation?.configDir).toBe(folder);
  await talk.end();
  return session?.id ?? "";
}

/** The same conversation's files in another folder, with other words in them. */
function copyOf(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
  for (const file of globSync(join(to, "**/*.jsonl"))) {
    writeFileSync(file, readFileSync(file, "utf8").replaceAll("the secret of", "no secret of"));
  }
}

describe.each(VENDORS)("%s", (vendor) => {
  it("comes back to its config dir, whatever the caller has set", async () => {
    const persona = installPersona(vendor);
    const own = join(persona.home.dir, "own");
    const id = await inFolder(persona, "coder", own);
    for (const other of [{}, { [persona.facts.variable]: join(persona.home.dir, "another") }]) {
      const { talk, banner } = await persona.resume("coder", { env: { ...persona.home.env, ...other } });
      expect(banner.session).toBe(id);
      expect(await talk.say("more")).toContain("first=the secret of coder");
      expect(persona.holders(id, own)).toHaveLength(1);
      await talk.end();
    }
  });

  it("comes back to the usual config dir, although the caller has set another", async () => {
    const persona = installPersona(vendor);
    const talk = await persona.begin("coder");
    await talk.say("the secret");
    const { session } = await persona.untilProved("coder");
    await talk.end();
    const env = { ...persona.home.env, [persona.facts.variable]: join(persona.home.dir, "another") };
    const { talk: again, banner } = await persona.resume("coder", { env });
    expect(banner).toEqual({ session: session?.id, turns: 1 });
    expect(await again.say("more")).toContain("turns=2 first=the secret");
    expect(persona.holders(session?.id ?? "")).toHaveLength(1);
  });

  it("takes the same id in another config dir for another conversation", async () => {
    const persona = installPersona(vendor);
    const [own, other] = [join(persona.home.dir, "own"), join(persona.home.dir, "other")];
    const id = await inFolder(persona, "coder", own);
    copyOf(own, other);
    const env = { ...persona.home.env, [persona.facts.variable]: other };
    const adopted = await persona.home.perdure(["adopt", "twin", "--vendor", vendor, "--conversation", id], { env });
    expect(adopted).toMatchObject({ code: 0 });

    const twin = await persona.resume("twin");
    expect(twin.banner.session).toBe(id);
    expect(await twin.talk.say("who?")).toContain("turns=2 first=no secret of coder");
    const coder = await persona.resume("coder");
    expect(coder.banner.session).toBe(id);
    expect(await coder.talk.say("who?")).toContain("turns=2 first=the secret of coder");
    for (const name of ["twin", "coder"]) expect((await persona.untilProved(name)).attention).toBeNull();
  });

  it("is not led to another config dir by a command that sets it", async () => {
    const persona = installPersona(vendor);
    const [own, other] = [join(persona.home.dir, "own"), join(persona.home.dir, "other")];
    const id = await inFolder(persona, "coder", own);
    copyOf(own, other);
    const words = ["--", "env", `${persona.facts.variable}=${other}`, persona.facts.program];
    const talk = persona.run("coder", words);
    const whose = async (): Promise<string> => `${readBanner(await talk.answer()).session}: ${await talk.say("who?")}`;
    const outcome = await whose().catch(async () => `refused with ${(await talk.ended).code}`);
    // Both keep the promise.
    const itsOwn = `${id}: turns=2 first=the secret of coder last=who?`;
    expect([itsOwn, "refused with 5"]).toContain(outcome);
  });

  it("A6: is refused by drill and run alike when the config dir is linked elsewhere, with a way out that works", async () => {
    const persona = installPersona(vendor);
    const [link, own, other] = ["link", "own", "other"].map((name) => join(persona.home.dir, name)) as [
      string,
      string,
      string,
    ];
    mkdirSync(own);
    symlinkSync(own, link);
    const env = { ...persona.home.env, [persona.facts.variable]: link };
    const first = await persona.begin("coder", [], { env });
    await first.say("the secret");
    const id = (await persona.untilProved("coder")).session?.id ?? "";
    await first.end();
    await persona.untilEndRecorded("coder");
    copyOf(own, other);
    relink(link, other);
    const [refused, drilled] = await refusals(persona);
    expect(drilled).toMatchObject({ ok: false });
    expect(refused.stderr).toContain(drilled?.reason);
    expect(refused.stderr).toContain(drilled?.hint);
    expect(drilled?.reason).toContain(`${link} points to ${other} now`);
    expect(drilled?.hint).toContain(`point ${link} at ${own} again`);
    expect(drilled?.hint).not.toContain("variable");

    // The folder itself was moved: the conversation is where the link leads now.
    rmSync(other, { recursive: true });
    renameSync(own, other);
    const [, moved] = await refusals(persona);
    const words = /perdure (adopt coder [^;]+?);/.exec(moved?.hint ?? "")?.[1] ?? "no way out";
    expect(await persona.home.perdure(words.split(" "), { env })).toMatchObject({ code: 0 });
    const { talk, banner } = await persona.resume("coder");
    expect(banner).toEqual({ session: id, turns: 1 });
    await talk.end();
    expect((await drillOf(persona))?.ok).toBe(true);
  });

  it("A6: goes on when its config dir was moved and a link put in its place", async () => {
    const persona = installPersona(vendor);
    const [own, other] = [join(persona.home.dir, "own"), join(persona.home.dir, "other")];
    const id = await inFolder(persona, "coder", own);
    await persona.untilEndRecorded("coder");
    renameSync(own, other);
    symlinkSync(other, own);
    expect((await drillOf(persona))?.ok).toBe(true);
    const { talk, banner } = await persona.resume("coder");
    expect(banner).toEqual({ session: id, turns: 1 });
    await talk.say("more");
    expect((await persona.untilProved("coder")).attention).toBeNull();
    await talk.end();
  });
});

async function drillOf({ home }: InstalledPersona): Promise<DrillResult | undefined> {
  const { stdout } = await home.perdure(["drill", "--json"]);
  return (JSON.parse(stdout) as { workers: DrillResult[] }).workers[0];
}

async function refusals(persona: InstalledPersona): Promise<[Finished, DrillResult | undefined]> {
  const drilled = await drillOf(persona);
  const refused = await persona.home.perdure(["run", "coder"]);
  expect(refused).toMatchObject({ code: 5 });
  return [refused, drilled];
}

function relink(link: string, to: string): void {
  rmSync(link);
  symlinkSync(to, link);
}

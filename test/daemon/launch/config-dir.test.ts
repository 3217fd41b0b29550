import { cpSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { VENDORS } from "../../campaigns/support/costume-looks.ts";
import { readBanner, type Costume } from "../../campaigns/support/costume.ts";
import { scenes } from "../conversations/scene.ts";

const scene = scenes();

/** A worker whose vendor keeps its conversations in a folder of its own, stopped. */
async function inFolder(costume: Costume, name: string, folder: string): Promise<string> {
  const env = { ...costume.home.env, [costume.look.variable]: folder };
  const talk = await costume.begin(name, [], { env });
  await talk.say(`the secret of ${name}`);
  const { session, conversation } = await costume.proved(name);
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
    const costume = scene(vendor);
    const own = join(costume.home.dir, "own");
    const id = await inFolder(costume, "coder", own);
    for (const other of [{}, { [costume.look.variable]: join(costume.home.dir, "another") }]) {
      const { talk, banner } = await costume.resume("coder", { env: { ...costume.home.env, ...other } });
      expect(banner.session).toBe(id);
      expect(await talk.say("more")).toContain("first=the secret of coder");
      expect(costume.holders(id, own)).toHaveLength(1);
      await talk.end();
    }
  });

  it("comes back to the usual config dir, although the caller has set another", async () => {
    const costume = scene(vendor);
    const talk = await costume.begin("coder");
    await talk.say("the secret");
    const { session } = await costume.proved("coder");
    await talk.end();
    const env = { ...costume.home.env, [costume.look.variable]: join(costume.home.dir, "another") };
    const { talk: again, banner } = await costume.resume("coder", { env });
    expect(banner).toEqual({ session: session?.id, turns: 1 });
    expect(await again.say("more")).toContain("turns=2 first=the secret");
    expect(costume.holders(session?.id ?? "")).toHaveLength(1);
  });

  it("takes the same id in another config dir for another conversation", async () => {
    const costume = scene(vendor);
    const [own, other] = [join(costume.home.dir, "own"), join(costume.home.dir, "other")];
    const id = await inFolder(costume, "coder", own);
    copyOf(own, other);
    const env = { ...costume.home.env, [costume.look.variable]: other };
    const adopted = await costume.home.perdure(["adopt", "twin", "--vendor", vendor, "--session", id], { env });
    expect(adopted).toMatchObject({ code: 0 });

    const twin = await costume.resume("twin");
    expect(twin.banner.session).toBe(id);
    expect(await twin.talk.say("who?")).toContain("turns=2 first=no secret of coder");
    const coder = await costume.resume("coder");
    expect(coder.banner.session).toBe(id);
    expect(await coder.talk.say("who?")).toContain("turns=2 first=the secret of coder");
    for (const name of ["twin", "coder"]) expect((await costume.proved(name)).attention).toBeNull();
  });

  it("is not led to another config dir by a command that sets it", async () => {
    const costume = scene(vendor);
    const [own, other] = [join(costume.home.dir, "own"), join(costume.home.dir, "other")];
    const id = await inFolder(costume, "coder", own);
    copyOf(own, other);
    const words = ["--", "env", `${costume.look.variable}=${other}`, costume.look.program];
    const talk = costume.run("coder", words);
    const whose = async (): Promise<string> => `${readBanner(await talk.answer()).session}: ${await talk.say("who?")}`;
    const outcome = await whose().catch(async () => `refused with ${(await talk.ended).code}`);
    // Both keep the promise.
    const itsOwn = `${id}: turns=2 first=the secret of coder last=who?`;
    expect([itsOwn, "refused with 5"]).toContain(outcome);
  });
});

import { describe, expect, it } from "vitest";
import { readBanner } from "../../support/persona.ts";
import { VENDORS } from "../../support/persona-facts.ts";
import { personaInstaller } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();

describe.each(VENDORS)("%s --fresh", (vendor) => {
  it("begins a new conversation and keeps the old one in the lineage", async () => {
    const persona = installPersona(vendor);
    const first = await persona.begin("coder");
    await first.say("the first secret");
    const old = (await persona.untilProved("coder")).session?.id ?? "";
    await first.end();

    const fresh = persona.run("coder", ["--fresh"]);
    const { session: id, turns } = readBanner(await fresh.answer());
    expect(turns).toBe(0);
    expect(id).not.toBe(old);
    expect(await fresh.say("the second secret")).toContain("turns=1 first=the second secret");
    await persona.untilProved("coder");
    await fresh.end();

    const { sessions, runs } = await persona.history("coder");
    expect(sessions.map((each) => [each.id, each.rotatedFrom, each.current])).toEqual([
      [id, old, true],
      [old, null, false],
    ]);
    expect(runs.map(({ sessionId }) => sessionId)).toEqual([id, old]);
    expect(persona.prompts(old)).toEqual(["the first secret"]);

    const { banner } = await persona.resume("coder");
    expect(banner).toEqual({ session: id, turns: 1 });
  });

  it("leaves the old one the worker's own: nobody else can adopt it", async () => {
    const persona = installPersona(vendor);
    const first = await persona.begin("coder");
    await first.say("the first secret");
    const old = (await persona.untilProved("coder")).session?.id ?? "";
    await first.end();
    const fresh = persona.run("coder", ["--fresh"]);
    await fresh.answer();

    const stolen = await persona.home.perdure(["adopt", "thief", "--vendor", vendor, "--conversation", old]);
    expect(stolen).toMatchObject({ code: 4, stdout: "" });
    expect(stolen.stderr).toContain("belongs to coder");
  });
});

import { describe, expect, it } from "vitest";
import { eventually } from "../../support/check.ts";
import { VENDORS } from "../../support/persona-facts.ts";
import { personaInstaller } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();

describe.each(VENDORS)("%s", (vendor) => {
  it("killed before the first prompt, comes back usable under the same id", async () => {
    const persona = installPersona(vendor);
    const talk = await persona.begin("coder");
    const { session } = await persona.untilProved("coder");
    await persona.kill("coder", talk);

    const { talk: again, banner } = await persona.resume("coder");
    expect(banner).toEqual({ session: session?.id, turns: 0 });
    expect(await again.say("the secret")).toContain("turns=1 first=the secret");
    expect((await persona.untilProved("coder")).session?.id).toBe(session?.id);
    await persona.kill("coder", again);

    const third = await persona.resume("coder");
    expect(third.banner).toEqual({ session: session?.id, turns: 1 });
    expect(await third.talk.say("again")).toContain("turns=2 first=the secret");
  });

  it("killed in the middle of its first turn, keeps what was written of it", async () => {
    const persona = installPersona(vendor);
    const talk = await persona.begin("coder");
    const { session } = await persona.untilProved("coder");
    const id = session?.id ?? "";
    talk.type("the secret");
    await eventually("the prompt to be written down", () => persona.prompts(id).length === 1);
    await persona.kill("coder", talk);

    const { talk: again, banner } = await persona.resume("coder");
    expect(banner).toEqual({ session: id, turns: 1 });
    expect(await again.say("more")).toContain("turns=2 first=the secret");
  });
});

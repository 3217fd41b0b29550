import { describe, expect, it } from "vitest";
import { eventually } from "../../campaigns/support/check.ts";
import { VENDORS } from "../../campaigns/support/costume-looks.ts";
import { scenes } from "../conversations/scene.ts";

const scene = scenes();

describe.each(VENDORS)("%s", (vendor) => {
  it("killed before the first prompt, comes back usable under the same id", async () => {
    const costume = scene(vendor);
    const talk = await costume.begin("coder");
    const { session } = await costume.proved("coder");
    await costume.kill("coder", talk);

    const { talk: again, banner } = await costume.resume("coder");
    expect(banner).toEqual({ session: session?.id, turns: 0 });
    expect(await again.say("the secret")).toContain("turns=1 first=the secret");
    expect((await costume.proved("coder")).session?.id).toBe(session?.id);
    await costume.kill("coder", again);

    const third = await costume.resume("coder");
    expect(third.banner).toEqual({ session: session?.id, turns: 1 });
    expect(await third.talk.say("again")).toContain("turns=2 first=the secret");
  });

  it("killed in the middle of its first turn, keeps what was written of it", async () => {
    const costume = scene(vendor);
    const talk = await costume.begin("coder");
    const { session } = await costume.proved("coder");
    const id = session?.id ?? "";
    talk.type("the secret");
    await eventually("the prompt to be written down", () => costume.asked(id).length === 1);
    await costume.kill("coder", talk);

    const { talk: again, banner } = await costume.resume("coder");
    expect(banner).toEqual({ session: id, turns: 1 });
    expect(await again.say("more")).toContain("turns=2 first=the secret");
  });
});

import { describe, expect, it } from "vitest";
import { readBanner } from "../../campaigns/support/costume.ts";
import { VENDORS } from "../../campaigns/support/costume-looks.ts";
import { scenes } from "../conversations/scene.ts";

const scene = scenes();

describe.each(VENDORS)("%s --fresh", (vendor) => {
  it("begins a new conversation and keeps the old one in the lineage", async () => {
    const costume = scene(vendor);
    const first = await costume.begin("coder");
    await first.say("the first secret");
    const old = (await costume.proved("coder")).session?.id ?? "";
    await first.end();

    const fresh = costume.run("coder", ["--fresh"]);
    const { session: id, turns } = readBanner(await fresh.answer());
    expect(turns).toBe(0);
    expect(id).not.toBe(old);
    expect(await fresh.say("the second secret")).toContain("turns=1 first=the second secret");
    await costume.proved("coder");
    await fresh.end();

    const { sessions, runs } = await costume.history("coder");
    expect(sessions.map((each) => [each.id, each.rotatedFrom, each.current])).toEqual([
      [id, old, true],
      [old, null, false],
    ]);
    expect(runs.map(({ sessionId }) => sessionId)).toEqual([id, old]);
    expect(costume.asked(old)).toEqual(["the first secret"]);

    const { banner } = await costume.resume("coder");
    expect(banner).toEqual({ session: id, turns: 1 });
  });

  it("leaves the old one the worker's own: nobody else can adopt it", async () => {
    const costume = scene(vendor);
    const first = await costume.begin("coder");
    await first.say("the first secret");
    const old = (await costume.proved("coder")).session?.id ?? "";
    await first.end();
    const fresh = costume.run("coder", ["--fresh"]);
    await fresh.answer();

    const stolen = await costume.home.perdure(["adopt", "thief", "--vendor", vendor, "--session", old]);
    expect(stolen).toMatchObject({ code: 4, stdout: "" });
    expect(stolen.stderr).toContain("is coder's");
  });
});

import { describe, expect, it } from "vitest";
import { VENDORS } from "../../campaigns/support/costume-looks.ts";
import { readBanner, type Costume } from "../../campaigns/support/costume.ts";
import type { Talk } from "../../scripted/stage.ts";
import type { Finished } from "../../support/home.ts";
import { scenes } from "./scene.ts";

const scene = scenes();

/** A conversation begun without perdure, still open. */
async function byHand(costume: Costume): Promise<{ talk: Talk; id: string }> {
  const talk = costume.alone([]);
  const { session: id } = readBanner(await talk.answer());
  await talk.say("the secret");
  return { talk, id };
}

function adopt(costume: Costume, name: string, id: string): Promise<Finished> {
  return costume.home.perdure(["adopt", name, "--vendor", costume.look.vendor, "--session", id]);
}

describe.each(VENDORS)("%s", (vendor) => {
  it("adopts a conversation that was begun by hand", async () => {
    const costume = scene(vendor);
    const { talk, id } = await byHand(costume);
    await talk.end();
    expect(await adopt(costume, "coder", id)).toMatchObject({ code: 0 });
    expect((await costume.show("coder")).session).toMatchObject({ id, provenance: "adopted", proved: "pending" });

    const { talk: again, banner } = await costume.resume("coder");
    expect(banner).toEqual({ session: id, turns: 1 });
    expect(await again.say("more")).toContain("turns=2 first=the secret");
    expect((await costume.proved("coder")).session?.provenance).toBe("adopted");
  });

  it("does not adopt what is not there, and binds nothing", async () => {
    const costume = scene(vendor);
    const unknown = "01a1e1aa-9e03-74ec-be88-1b7038c2d5e4";
    const refused = await adopt(costume, "coder", unknown);
    expect(refused).toMatchObject({ code: 3, stdout: "" });
    expect(refused.stderr).toContain(unknown);
    expect((await costume.home.json<{ workers: unknown[] }>(["ls"])).workers).toEqual([]);
  });

  it("does not adopt one that is open, and says where", async () => {
    const costume = scene(vendor);
    const { talk, id } = await byHand(costume);
    const refused = await adopt(costume, "coder", id);
    expect(refused).toMatchObject({ code: 5, stdout: "" });
    expect(refused.stderr).toContain(`pid ${talk.pid}`);
    await talk.end();
    expect(await adopt(costume, "coder", id)).toMatchObject({ code: 0 });
  });

  it("does not adopt another worker's, until that one is retired", async () => {
    const costume = scene(vendor);
    const talk = await costume.begin("coder");
    await talk.say("the secret");
    const id = (await costume.proved("coder")).session?.id ?? "";
    await talk.end();
    const refused = await adopt(costume, "heir", id);
    expect(refused).toMatchObject({ code: 4, stdout: "" });
    expect(refused.stderr).toContain("coder");

    expect(await costume.home.perdure(["retire", "coder"])).toMatchObject({ code: 0 });
    expect(await adopt(costume, "heir", id)).toMatchObject({ code: 0 });
    const heir = await costume.resume("heir");
    expect(heir.banner).toEqual({ session: id, turns: 1 });
    expect(await heir.talk.say("more")).toContain("turns=2 first=the secret");

    const anew = costume.run("coder", ["--", costume.look.program]);
    expect(readBanner(await anew.answer())).toMatchObject({ turns: 0 });
  });

  it("does not adopt anything for a worker that runs, and keeps what the worker was in", async () => {
    const costume = scene(vendor);
    const { talk: hand, id } = await byHand(costume);
    await hand.end();
    const talk = await costume.begin("coder");
    await talk.say("another secret");
    const own = (await costume.proved("coder")).session?.id;
    expect(await adopt(costume, "coder", id)).toMatchObject({ code: 4, stdout: "" });
    expect((await costume.show("coder")).session?.id).toBe(own);
    await talk.end();

    expect(await adopt(costume, "coder", id)).toMatchObject({ code: 0 });
    const { sessions } = await costume.history("coder");
    expect(sessions.map((each) => [each.id, each.current])).toEqual([
      [id, true],
      [own, false],
    ]);
    expect((await costume.resume("coder")).banner).toEqual({ session: id, turns: 1 });
  });
});

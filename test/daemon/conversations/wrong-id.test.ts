import { describe, expect, it } from "vitest";
import { VENDORS } from "../../campaigns/support/costume-looks.ts";
import { readBanner, type Costume } from "../../campaigns/support/costume.ts";
import { scenes } from "./scene.ts";

const scene = scenes();

/** Comes up in another conversation than the one it was told, and says nothing about it. */
function misled(costume: Costume, then = ""): { env: Record<string, string> } {
  return { env: { ...costume.home.env, PERDURE_SCRIPT: `wrong-id; ${then}` } };
}

describe.each(VENDORS)("%s in a wrong conversation", (vendor) => {
  it("is marked, keeps its id, and comes back in its own", async () => {
    const costume = scene(vendor);
    const first = await costume.begin("coder");
    await first.say("the secret");
    const { session } = await costume.proved("coder");
    await first.end();

    const wrong = await costume.resume("coder", misled(costume));
    expect(wrong.banner.session).not.toBe(session?.id);
    const marked = await costume.until("coder", "to be marked", (worker) => worker.session?.proved === false);
    expect(marked.session?.id).toBe(session?.id);
    expect(marked.attention).toContain(wrong.banner.session);
    expect((await costume.events("session.mismatch")).map(({ worker }) => worker)).toEqual(["coder"]);
    // Longer than its own: what is there must not be taken for what it had.
    for (let turn = 0; turn < 5; turn++) await wrong.talk.say(`something else ${"x".repeat(200)}`);
    await costume.kill("coder", wrong.talk);

    const { talk, banner } = await costume.resume("coder");
    expect(banner).toEqual({ session: session?.id, turns: 1 });
    expect(await talk.say("more")).toContain("turns=2 first=the secret");
    expect((await costume.proved("coder")).attention).toBeNull();
  });

  it("at its very first start, has its own id still to come", async () => {
    const costume = scene(vendor);
    const talk = costume.run("coder", ["--", costume.look.program], misled(costume));
    const wrong = readBanner(await talk.answer());
    await talk.say("something else");
    const marked = await costume.until("coder", "to be marked", (worker) => worker.session?.proved === false);
    expect(marked.session?.id).not.toBe(wrong.session);
    await costume.kill("coder", talk);

    const { banner } = await costume.resume("coder");
    expect(banner).toEqual({ session: marked.session?.id, turns: 0 });
  });

  it("is stopped if nobody sits in front of it", async () => {
    const costume = scene(vendor);
    const command = ["--", costume.look.program, ...costume.look.headless("the secret")];
    expect(await costume.home.perdure(["run", "coder", ...command])).toMatchObject({ code: 0 });
    const { session } = await costume.show("coder");

    const stopped = await costume.home.perdure(["run", "coder"], misled(costume, "/sleep 60000"));
    expect(stopped.code).not.toBe(0);
    expect(stopped.stderr).toContain("came up in another conversation");
    const worker = await costume.until("coder", "to be stopped", ({ run }) => run === null);
    expect(worker.session).toMatchObject({ id: session?.id, proved: false });
    expect(worker.lastRun?.displacedBy).toContain("another conversation");
    expect(await costume.home.perdure(["run", "coder"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("turns=2 first=the secret") as string,
    });
  });
});

import { describe, expect, it } from "vitest";
import { eventually } from "../../campaigns/support/check.ts";
import { VENDORS, type Vendor } from "../../campaigns/support/costume-looks.ts";
import type { Costume } from "../../campaigns/support/costume.ts";
import type { Talk } from "../../scripted/stage.ts";
import { idIn, killDaemon, scenes } from "./scene.ts";

/** Hooks leave files, registries entries; both outlive the process. */
const LEAVES_A_TRACE: ReadonlySet<Vendor> = new Set<Vendor>(["claude", "scripted"]);

const scene = scenes();

async function withSecret(costume: Costume, name = "coder"): Promise<{ talk: Talk; id: string }> {
  const talk = await costume.begin(name);
  await talk.say(`the secret of ${name}`);
  const { session } = await costume.proved(name);
  return { talk, id: session?.id ?? "" };
}

/** Which conversation it comes back in, and what that begins with. */
async function comesBack(costume: Costume): Promise<{ id: string; first: string }> {
  const { talk, banner } = await costume.resume("coder");
  const answer = /turns=(\d+) first=(.*) last=/.exec(await talk.say("who?"));
  expect(answer?.[1]).toBe(String(banner.turns + 1));
  await costume.kill("coder", talk);
  return { id: banner.session, first: answer?.[2] ?? "" };
}

describe.each(VENDORS)("%s", (vendor) => {
  it("is followed to a new conversation, over a crash of the daemon", async () => {
    const costume = scene(vendor);
    const { talk, id: old } = await withSecret(costume);
    const id = idIn(await talk.say("/clear"));
    await talk.say("the second secret");
    await costume.until("coder", "to be followed", ({ session }) => session?.id === id);
    await killDaemon(costume.home);
    await talk.say("more");

    const worker = await costume.until("coder", "to be known again", ({ run }) => run !== null);
    expect(worker.session).toMatchObject({ id, proved: true, provenance: "rotated" });
    expect(worker.conversation?.rotatedFrom).toBe(old);
    const third = idIn(await talk.say("/new"));
    await talk.say("the third secret");
    await costume.until("coder", "to be followed again", ({ session }) => session?.id === third);
    await costume.kill("coder", talk);
    expect(await comesBack(costume)).toEqual({ id: third, first: "the third secret" });
  });

  it("is followed to a conversation that it began while no daemon was there", async () => {
    const costume = scene(vendor);
    const { talk } = await withSecret(costume);
    await killDaemon(costume.home);
    const id = idIn(await talk.say("/new"));
    await talk.say("the second secret");

    const worker = await costume.until("coder", "to be followed", ({ session }) => session?.id === id);
    expect(worker).toMatchObject({ attention: null, session: { proved: true } });
    await costume.kill("coder", talk);
    expect(await comesBack(costume)).toEqual({ id, first: "the second secret" });
  });

  it("is not marked for a conversation that it began before the daemon had seen the first", async () => {
    const costume = scene(vendor);
    await costume.home.perdure(["daemon", "start"]);
    const env = { ...costume.home.env, PERDURE_SCRIPT: "late 500" };
    const talk = costume.run("coder", ["--", costume.look.program], { env });
    await costume.until("coder", "to have started", ({ run, state }) => run !== null && state !== "starting");
    await killDaemon(costume.home);
    await talk.answer();
    await talk.say("the first secret");
    const id = idIn(await talk.say("/clear"));
    await talk.say("the second secret");

    const worker = await costume.until("coder", "to be looked at", ({ session }) => {
      return session?.id === id || session?.proved === false;
    });
    expect(worker).toMatchObject({ attention: null, session: { id, proved: true } });
  });

  it("is followed to a conversation in which it was killed at once", async () => {
    const costume = scene(vendor);
    const { talk } = await withSecret(costume);
    const id = idIn(await talk.say("/clear"));
    await talk.say("the second secret");
    // Codex leaves nothing behind that says where a killed process was: it has to be seen alive there.
    if (!LEAVES_A_TRACE.has(vendor))
      await costume.until("coder", "to be seen there", ({ session }) => session?.id === id);
    await costume.kill("coder", talk);
    expect(await comesBack(costume)).toEqual({ id, first: "the second secret" });
  });

  it("is not led away by a nested agent", async () => {
    const costume = scene(vendor);
    const { talk, id } = await withSecret(costume);
    // Long enough to be seen by the daemon's next look.
    expect(await talk.say("/print /sleep 1500")).toContain("slept 1500 ms");
    expect(await talk.say("/print hello")).toContain("turns=1 first=hello");
    expect((await costume.show("coder")).session?.id).toBe(id);
    await costume.kill("coder", talk);
    expect(await comesBack(costume)).toEqual({ id, first: "the secret of coder" });
  });

  it("comes back in its own conversation after it looked into another worker's", async () => {
    const costume = scene(vendor);
    const { talk: other, id: theirs } = await withSecret(costume, "other");
    for (let turn = 0; turn < 5; turn++) await other.say(`long ${"x".repeat(300)}`);
    await other.end();
    const { talk, id } = await withSecret(costume);
    expect(idIn(await talk.say(`/resume ${theirs}`))).toBe(theirs);
    await eventually("coder to be seen there", async () => (await costume.events("session.foreign")).length > 0);
    expect((await costume.show("coder")).session?.id).toBe(id);
    expect((await costume.show("other")).session?.id).toBe(theirs);
    await costume.kill("coder", talk);
    expect(await comesBack(costume)).toEqual({ id, first: "the secret of coder" });
  });
});

describe.each(["scripted", "claude"] satisfies Vendor[])("%s", (vendor) => {
  it("goes along into an older conversation of its own", async () => {
    const costume = scene(vendor);
    const { talk, id: old } = await withSecret(costume);
    const id = idIn(await talk.say("/clear"));
    await talk.say("the second secret");
    await costume.until("coder", "to be followed", ({ session }) => session?.id === id);
    await talk.say(`/resume ${old}`);
    await costume.until("coder", "to be followed back", ({ session }) => session?.id === old);
    await costume.kill("coder", talk);
    expect(await comesBack(costume)).toEqual({ id: old, first: "the secret of coder" });
  });
});

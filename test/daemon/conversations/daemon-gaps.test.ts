import { afterEach, describe, expect, it } from "vitest";
import { VENDORS, type Vendor } from "../../campaigns/support/costume-looks.ts";
import { readBanner, type Costume } from "../../campaigns/support/costume.ts";
import { Gate } from "../../campaigns/support/costume-gate.ts";
import { killDaemon, scenes } from "./scene.ts";

const scene = scenes();
const gates: Gate[] = [];
afterEach(() => {
  for (const gate of gates.splice(0)) gate.close();
});

async function gateOf(costume: Costume): Promise<Gate> {
  await costume.home.perdure(["daemon", "start"]);
  const gate = await Gate.open(costume.home);
  gates.push(gate);
  return gate;
}

/** Dies right after it has granted a claim; whoever comes next finds another one. */
async function crash(costume: Costume): Promise<"pass"> {
  await killDaemon(costume.home);
  await costume.home.perdure(["daemon", "start"]);
  return "pass";
}

/** Dies right after it has granted a claim, and nobody comes. */
async function vanish(costume: Costume): Promise<"pass"> {
  await killDaemon(costume.home);
  return "pass";
}

describe.each(VENDORS)("%s", (vendor) => {
  it("is in its own conversation when the daemon dies between claim and start", async () => {
    const costume = scene(vendor);
    const gate = await gateOf(costume);
    gate.claims.answered = () => crash(costume);
    const first = costume.run("coder", ["--", costume.look.program], { env: gate.env });
    const { session: id } = readBanner(await first.answer());
    await first.say("the secret");
    expect((await costume.proved("coder")).session?.id).toBe(id);
    await costume.kill("coder", first);

    const again = costume.run("coder", [], { env: gate.env });
    expect(readBanner(await again.answer())).toEqual({ session: id, turns: 1 });
    const worker = await costume.proved("coder");
    expect(worker.session?.id).toBe(id);
    expect(worker.attention).toBeNull();
  });

  it("starts once when the answer to its claim is lost with the daemon", async () => {
    const costume = scene(vendor);
    const gate = await gateOf(costume);
    let claims = 0;
    gate.claims.answered = async () => {
      if (++claims > 1) return "pass";
      await crash(costume);
      return "lost";
    };
    const talk = costume.run("coder", ["--", costume.look.program], { env: gate.env });
    const { session: id } = readBanner(await talk.answer());
    expect(claims).toBe(2);
    expect(await costume.proved("coder")).toMatchObject({ session: { id }, generation: 1 });
    expect(costume.starts()).toHaveLength(1);
    expect(costume.holders(id)).toHaveLength(1);
  });

  it.each([0, 3])("that ran and ended with %i while no daemon was there is never called wrong", async (code) => {
    const costume = scene(vendor);
    const first = await costume.begin("coder");
    await first.say("the secret");
    const { session } = await costume.proved("coder");
    await first.end();
    const gate = await gateOf(costume);
    gate.claims.answered = () => vanish(costume);
    const talk = costume.run("coder", [], { env: gate.env });
    expect(readBanner(await talk.answer())).toEqual({ session: session?.id, turns: 1 });
    talk.type(`/exit ${code}`);
    expect(await talk.ended).toMatchObject({ code });

    const worker = await costume.until("coder", "to have ended", ({ run }) => run === null);
    expect(worker.session?.id).toBe(session?.id);
    expect((await costume.resume("coder")).banner).toEqual({ session: session?.id, turns: 1 });
    await costume.proved("coder");
    const alone = (await costume.history("coder")).runs.find(({ id }) => id === worker.lastRun?.id);
    expect(alone?.exit).toBe(code);
    expect(alone?.sessions.map(({ id }) => id)).toEqual([session?.id]);
    expect(alone?.sessions[0]?.proved).not.toBe(false);
  });
});

describe.each(["scripted", "claude"] satisfies Vendor[])("%s", (vendor) => {
  it("that said something while no daemon was there is proved by it", async () => {
    const costume = scene(vendor);
    const gate = await gateOf(costume);
    gate.claims.answered = () => vanish(costume);
    const talk = costume.run("coder", ["--", costume.look.program], { env: gate.env });
    const { session: id } = readBanner(await talk.answer());
    await talk.say("the secret");
    await talk.end();
    const worker = await costume.proved("coder");
    expect(worker.session?.id).toBe(id);
    expect(worker.conversation?.evidence).toMatch(/./);
  });
});

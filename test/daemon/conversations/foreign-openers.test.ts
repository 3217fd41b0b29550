import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { STRANGER_LOOK_MS } from "../../../src/limits/index.ts";
import type { Vendor } from "../../campaigns/support/costume-looks.ts";
import { VENDORS } from "../../campaigns/support/costume-looks.ts";
import type { Costume } from "../../campaigns/support/costume.ts";
import { eventually } from "../../campaigns/support/check.ts";
import { scenes } from "./scene.ts";

const scene = scenes();
/** The promise itself. */
const FLAGGED_WITHIN_MS = 5_000;

async function withSecret(costume: Costume): Promise<string> {
  const talk = await costume.begin("coder");
  await talk.say("the secret");
  const { session } = await costume.proved("coder");
  await talk.end();
  return session?.id ?? "";
}

function byHand(costume: Costume, id: string): string[] {
  return costume.look.vendor === "codex" ? ["resume", id] : ["--resume", id];
}

describe.each(VENDORS)("%s", (vendor) => {
  it("is refused while a stranger has its conversation open, and comes back after", async () => {
    const costume = scene(vendor);
    const id = await withSecret(costume);
    const stranger = costume.alone(byHand(costume, id));
    await stranger.answer();

    const refused = await costume.home.perdure(["run", "coder"]);
    expect(refused).toMatchObject({ code: 5, stdout: "" });
    expect(refused.stderr).toContain(`pid ${stranger.pid} `);
    expect(refused.stderr).toContain("→ ");
    expect(costume.holders(id)).toEqual([stranger.pid]);
    expect((await costume.show("coder")).session?.id).toBe(id);
    await stranger.end();

    const { talk, banner } = await costume.resume("coder");
    expect(banner).toEqual({ session: id, turns: 1 });
    expect(await talk.say("more")).toContain("turns=2 first=the secret");
    expect((await costume.proved("coder")).attention).toBeNull();
  });

  it("may be begun anew meanwhile", async () => {
    const costume = scene(vendor);
    const id = await withSecret(costume);
    const stranger = costume.alone(byHand(costume, id));
    await stranger.answer();
    const fresh = costume.run("coder", ["--fresh"]);
    await fresh.answer();
    const worker = await costume.proved("coder");
    expect(worker.session?.id).not.toBe(id);
    expect(worker.attention).toBeNull();
    await stranger.end();
  });
});

/** codex locks: nobody gets in later. */
const OPEN: Vendor[] = ["scripted", "claude"];

describe.each(OPEN)("%s", (vendor) => {
  it("flags a stranger that comes later, and can still be taken over", async () => {
    const costume = scene(vendor);
    const id = await withSecret(costume);
    const { talk } = await costume.resume("coder");
    await costume.proved("coder");
    const stranger = costume.alone(byHand(costume, id));
    await stranger.answer();

    const since = performance.now();
    const flagged = async (): Promise<boolean> => (await costume.show("coder")).attention !== null;
    await eventually("the stranger to be flagged", flagged);
    expect(performance.now() - since).toBeLessThan(FLAGGED_WITHIN_MS);
    const { workers } = await costume.home.json<{ workers: { attention: string }[] }>(["ls"]);
    expect(workers[0]?.attention).toBe(`its conversation is also open in pid ${stranger.pid}`);
    const [event, ...more] = await costume.events("session.opened-elsewhere");
    expect(event).toMatchObject({ worker: "coder", data: { session: id, pids: [stranger.pid] } });
    expect(more).toEqual([]);

    const taken = await costume.home.perdure(["takeover", "coder"]);
    expect(taken.code).toBe(0);
    await talk.ended;
    expect(costume.holders(id)).toEqual([stranger.pid]);
    expect(await costume.home.perdure(["run", "coder"])).toMatchObject({ code: 5 });
    await stranger.end();
    expect((await costume.resume("coder")).banner.session).toBe(id);
  });

  it("does not take itself or its nested agents for strangers", async () => {
    const costume = scene(vendor);
    await withSecret(costume);
    for (let round = 0; round < 5; round++) {
      const { talk } = await costume.resume("coder");
      await talk.say("/print hello");
      expect((await costume.proved("coder")).attention).toBeNull();
      await costume.kill("coder", talk);
    }
    expect(await costume.events("session.opened-elsewhere")).toEqual([]);
  });
});

it("does not take itself for a stranger when it shows up in the middle of a look", async () => {
  const costume = scene("claude");
  // A user of some years has many: finding a transcript among them takes longer than the agent takes to register.
  for (let project = 0; project < 15_000; project++) {
    mkdirSync(join(costume.configDir, "projects", `-project-${project}`), { recursive: true });
  }
  await costume.home.perdure(["daemon", "start"]);
  const looksForStrangers = async (): Promise<boolean> =>
    (await costume.call("status", {})).uptimeMs > STRANGER_LOOK_MS;
  await eventually("the daemon to look for strangers", looksForStrangers);
  await costume.begin("coder");
  expect((await costume.proved("coder")).attention).toBeNull();
  expect(await costume.events("session.opened-elsewhere")).toEqual([]);
});

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FOREIGN_OPENER_POLL_MS } from "../../../../src/limits/index.ts";
import { type Vendor, VENDORS } from "../../../support/persona-facts.ts";
import type { InstalledPersona } from "../../../support/persona.ts";
import { eventually } from "../../../support/check.ts";
import { personaInstaller } from "../../../support/persona-installer.ts";

const installPersona = personaInstaller();
/** The promise itself. */
const FLAGGED_WITHIN_MS = 5_000;

async function withSecret(persona: InstalledPersona): Promise<string> {
  const talk = await persona.begin("coder");
  await talk.say("the secret");
  const { session } = await persona.untilProved("coder");
  await talk.end();
  return session?.id ?? "";
}

function byHand(persona: InstalledPersona, id: string): string[] {
  return persona.facts.vendor === "codex" ? ["resume", id] : ["--resume", id];
}

describe.each(VENDORS)("%s", (vendor) => {
  it("is refused while a foreign process has its conversation open, and comes back after", async () => {
    const persona = installPersona(vendor);
    const id = await withSecret(persona);
    const foreign = persona.runDirectly(byHand(persona, id));
    await foreign.answer();

    const refused = await persona.home.perdure(["run", "coder"]);
    expect(refused).toMatchObject({ code: 5, stdout: "" });
    expect(refused.stderr).toContain(`pid ${foreign.pid} `);
    expect(refused.stderr).toContain("→ ");
    expect(persona.holders(id)).toEqual([foreign.pid]);
    expect((await persona.show("coder")).session?.id).toBe(id);
    await foreign.end();

    const { talk, banner } = await persona.resume("coder");
    expect(banner).toEqual({ session: id, turns: 1 });
    expect(await talk.say("more")).toContain("turns=2 first=the secret");
    expect((await persona.untilProved("coder")).attention).toBeNull();
  });

  it("may begin a new conversation meanwhile", async () => {
    const persona = installPersona(vendor);
    const id = await withSecret(persona);
    const foreign = persona.runDirectly(byHand(persona, id));
    await foreign.answer();
    const fresh = persona.run("coder", ["--fresh"]);
    await fresh.answer();
    const worker = await persona.untilProved("coder");
    expect(worker.session?.id).not.toBe(id);
    expect(worker.attention).toBeNull();
    await foreign.end();
  });
});

/** codex locks: nobody gets in later. */
const OPEN: Vendor[] = ["scripted", "claude"];

describe.each(OPEN)("%s", (vendor) => {
  it("flags a foreign opener that comes later, and can still be taken over", async () => {
    const persona = installPersona(vendor);
    const id = await withSecret(persona);
    const { talk } = await persona.resume("coder");
    await persona.untilProved("coder");
    const foreign = persona.runDirectly(byHand(persona, id));
    await foreign.answer();

    const since = performance.now();
    const flagged = async (): Promise<boolean> => (await persona.show("coder")).attention !== null;
    await eventually("the foreign opener to be flagged", flagged);
    expect(performance.now() - since).toBeLessThan(FLAGGED_WITHIN_MS);
    const { workers } = await persona.home.json<{ workers: { attention: string }[] }>(["ls"]);
    expect(workers[0]?.attention).toBe(`its conversation is also open in pid ${foreign.pid}`);
    const [event, ...more] = await persona.events("session.opened-elsewhere");
    expect(event).toMatchObject({ worker: "coder", data: { session: id, pids: [foreign.pid] } });
    expect(more).toEqual([]);

    const taken = await persona.home.perdure(["takeover", "coder"]);
    expect(taken.code).toBe(0);
    await talk.ended;
    expect(persona.holders(id)).toEqual([foreign.pid]);
    expect(await persona.home.perdure(["run", "coder"])).toMatchObject({ code: 5 });
    await foreign.end();
    expect((await persona.resume("coder")).banner.session).toBe(id);
  });

  it("does not take itself or its nested agents for foreign openers", async () => {
    const persona = installPersona(vendor);
    await withSecret(persona);
    for (let round = 0; round < 5; round++) {
      const { talk } = await persona.resume("coder");
      await talk.say("/print hello");
      expect((await persona.untilProved("coder")).attention).toBeNull();
      await persona.kill("coder", talk);
    }
    expect(await persona.events("session.opened-elsewhere")).toEqual([]);
  });
});

it("does not take itself for a foreign opener when it shows up in the middle of a poll", async () => {
  const persona = installPersona("claude");
  // A user of some years has many: finding a transcript among them takes longer than the agent takes to register.
  for (let project = 0; project < 15_000; project++) {
    mkdirSync(join(persona.configDir, "projects", `-project-${project}`), { recursive: true });
  }
  await persona.home.perdure(["daemon", "start"]);
  const pollsForOpeners = async (): Promise<boolean> =>
    (await persona.call("status", {})).uptimeMs > FOREIGN_OPENER_POLL_MS;
  await eventually("the daemon to poll for foreign openers", pollsForOpeners);
  await persona.begin("coder");
  expect((await persona.untilProved("coder")).attention).toBeNull();
  expect(await persona.events("session.opened-elsewhere")).toEqual([]);
});

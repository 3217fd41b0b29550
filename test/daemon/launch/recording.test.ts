import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { DrillResult } from "../../../src/protocol/records/conversation.ts";
import type { WorkerDetail } from "../../../src/protocol/records/worker.ts";
import { FleetHome } from "../../support/fleet-home.ts";
import { VENDORS, type Vendor } from "../../support/persona-facts.ts";
import { InstalledPersona } from "../../support/persona.ts";
import { personaInstaller } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();

const REASON = "recorded nothing: is recording turned off?";
const VARIABLE = "CLAUDE_CODE_SKIP_PROMPT_HISTORY";

async function drill(persona: InstalledPersona): Promise<DrillResult | undefined> {
  return (await persona.home.json<{ workers: DrillResult[] }>(["drill"])).workers[0];
}

/** Checks that the worker is known not to be resumable, by every verb that would tell, and that `--fresh` is the way out. */
async function freshAfterRefusals(persona: InstalledPersona, words: string[]): Promise<WorkerDetail> {
  const worker = await persona.until("w", "to be unresumable", ({ state }) => state === "unresumable");
  expect(worker.session?.proved).toBe(false);
  expect(worker.attention).toContain(REASON);
  expect((await persona.history("w")).runs[0]?.sessions[0]?.evidence).toContain(REASON);
  expect(await drill(persona)).toMatchObject({ ok: false, reason: worker.attention });

  const starts = persona.starts().length;
  const refused = await persona.home.perdure(["run", "w"]);
  expect(refused.code).toBe(5);
  expect(refused.stderr).toContain(worker.attention);
  expect(refused.stderr).toContain("--fresh");
  expect(persona.starts()).toHaveLength(starts);

  const fresh = await persona.home.perdure(["run", "w", "--fresh", "--", persona.facts.program, ...words]);
  expect(fresh).toMatchObject({ code: 0 });
  expect((await persona.show("w")).session?.id).not.toBe(worker.session?.id);
  return persona.untilProved("w");
}

describe.each(VENDORS)("A3: a headless %s that ended well and recorded nothing", (vendor: Vendor) => {
  it("cannot be resumed, and every verb says why", async () => {
    const persona = installPersona(vendor);
    const words = persona.facts.headless("hello");
    const env = { ...persona.home.env, PERDURE_SCRIPT: "unrecorded" };
    await persona.home.perdure(["run", "w", "--", persona.facts.program, ...words], { env });
    expect(await freshAfterRefusals(persona, words)).toMatchObject({ state: "stopped" });
  });
});

describe("A3: an agent whose hooks told of a prompt", () => {
  const unrecorded = (persona: InstalledPersona): object => ({
    env: { ...persona.home.env, PERDURE_SCRIPT: "unrecorded" },
  });

  it("and that recorded nothing cannot be resumed", async () => {
    const persona = installPersona("claude");
    const talk = await persona.begin("w", [], unrecorded(persona));
    await persona.untilProved("w");
    await talk.say("hello");
    await talk.end();
    const worker = await freshAfterRefusals(persona, persona.facts.headless("hello"));
    expect(worker.state).toBe("stopped");
  });

  it("and that was killed after its answer, neither", async () => {
    const persona = installPersona("claude");
    const talk = await persona.begin("w", [], unrecorded(persona));
    await talk.say("hello");
    await persona.kill("w", talk);
    const worker = await freshAfterRefusals(persona, persona.facts.headless("hello"));
    expect(worker.state).toBe("stopped");
  });

  it("in a conversation that was recorded before, is not proved by its hooks alone", async () => {
    const persona = installPersona("claude");
    const talk = await persona.begin("w");
    await talk.say("kept");
    await talk.end();
    await persona.untilEndRecorded("w");
    const lost = await persona.resume("w", unrecorded(persona));
    await lost.talk.say("lost");
    await lost.talk.end();
    await persona.until("w", "not to be proved", ({ session, run }) => run === null && session?.proved === false);
    expect((await persona.history("w")).runs[0]?.sessions[0]?.evidence).toContain("recorded nothing of it");
    expect((await persona.resume("w")).banner.turns).toBe(1);
  });

  it("and that was killed before it could write goes on as ever", async () => {
    const persona = installPersona("claude");
    const env = { ...persona.home.env, PERDURE_SCRIPT: "unrecorded; /hang" };
    const talk = persona.run("w", ["--", persona.facts.program], { env });
    await persona.until("w", "to be busy", ({ state, session }) => state === "busy" && session?.proved === true);
    await persona.kill("w", talk);
    const { banner } = await persona.resume("w");
    expect(banner.turns).toBe(0);
  });
});

describe("A3: a variable or a setting that turns claude's recording off", () => {
  const says = (text: string, place: string): void => {
    expect(text).toContain(`${VARIABLE}=1`);
    expect(text).toContain(place);
  };

  it("is refused by run, adopt and fork, and told by drill and doctor", async () => {
    const persona = installPersona("claude");
    const { home } = persona;
    const off = { env: { ...home.env, [VARIABLE]: "1" } };
    const first = await home.perdure(["run", "w", "--", "claude", "-p", "hello"], off);
    expect(first.code).toBe(5);
    says(first.stderr, "the environment");
    expect(persona.starts()).toEqual([]);
    expect((await home.perdure(["run", "w", "--", "env", `${VARIABLE}=1`, "claude"])).code).toBe(5);
    expect((await home.perdure(["run", "w", "--", "claude", "-p", "hello"])).code).toBe(0);
    const { session } = await persona.untilProved("w");

    const settings = join(home.project, ".claude", "settings.local.json");
    mkdirSync(join(home.project, ".claude"));
    writeFileSync(settings, JSON.stringify({ env: { [VARIABLE]: "1" } }));
    for (const words of [
      ["run", "w"],
      ["run", "w", "--fresh"],
      ["fork", "w", "v"],
      ["adopt", "v", "--vendor", "claude", "--conversation", session?.id ?? ""],
    ]) {
      const refused = await home.perdure(words);
      expect({ words, code: refused.code }).toEqual({ words, code: 5 });
      says(refused.stderr, settings);
    }
    expect((await home.perdure(["show", "v"])).code).toBe(3);
    const drilled = await drill(persona);
    expect(drilled?.ok).toBe(false);
    says(drilled?.reason ?? "", settings);
    const doctor = await home.perdure(["doctor"]);
    expect(doctor.code).toBe(5);
    says(doctor.stdout, settings);

    // It says nothing of a start that is for no conversation.
    expect((await home.perdure(["run", "w", "--", "claude", "--version"])).code).toBe(0);
    writeFileSync(settings, "{}");
    expect((await home.perdure(["run", "w"])).code).toBe(0);
    expect((await persona.show("w")).session?.id).toBe(session?.id);
  });

  it("is refused by up and restart, which stops nothing for it", async () => {
    const home = new FleetHome('[workers.w]\ncommand = ["claude"]\n');
    onTestFinished(() => home.clear());
    expect(new InstalledPersona(home, "claude").starts()).toEqual([]);
    const settings = join(home.dir, ".claude", "settings.json");
    mkdirSync(join(home.dir, ".claude"));
    writeFileSync(settings, JSON.stringify({ env: { [VARIABLE]: "1" } }));
    const { workers } = await home.up();
    expect(workers[0]).toMatchObject({ outcome: "refused" });
    says(workers[0]?.reason ?? "", settings);

    writeFileSync(settings, "{}");
    expect((await home.up()).workers[0]).toMatchObject({ outcome: "started" });
    const [before] = await home.untilIdle();
    writeFileSync(settings, JSON.stringify({ env: { [VARIABLE]: "1" } }));
    const refused = await home.perdure(["restart", "w"]);
    expect(refused.code).toBe(5);
    says(refused.stderr, settings);
    expect((await home.workers())[0]?.run?.id).toBe(before?.run?.id);
  });
});

import { appendFileSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../../support/check.ts";
import { VENDORS, type Vendor } from "../../support/persona-facts.ts";
import type { InstalledPersona } from "../../support/persona.ts";
import type { Talk } from "../../support/talk.ts";
import { sessionIdIn, killDaemon, personaInstaller } from "../../support/persona-installer.ts";

/** Hooks leave files, registries entries; both outlive the process. */
const LEAVES_A_TRACE: ReadonlySet<Vendor> = new Set<Vendor>(["claude", "scripted"]);

const installPersona = personaInstaller();

async function withSecret(
  persona: InstalledPersona,
  name = "coder",
  args: string[] = [],
): Promise<{ talk: Talk; id: string }> {
  const talk = await persona.begin(name, args);
  await talk.say(`the secret of ${name}`);
  const { session } = await persona.untilProved(name);
  return { talk, id: session?.id ?? "" };
}

/** Which conversation it comes back in, and what that begins with. */
async function comesBack(persona: InstalledPersona): Promise<{ id: string; first: string }> {
  const { talk, banner } = await persona.resume("coder");
  const answer = /turns=(\d+) first=(.*) last=/.exec(await talk.say("who?"));
  expect(answer?.[1]).toBe(String(banner.turns + 1));
  await persona.kill("coder", talk);
  return { id: banner.session, first: answer?.[2] ?? "" };
}

describe.each(VENDORS)("%s", (vendor) => {
  it("is followed to a new conversation, over a crash of the daemon", async () => {
    const persona = installPersona(vendor);
    const { talk, id: old } = await withSecret(persona);
    const id = sessionIdIn(await talk.say("/clear"));
    await talk.say("the second secret");
    await persona.until("coder", "to be followed", ({ session }) => session?.id === id);
    await killDaemon(persona.home);
    await talk.say("more");

    const worker = await persona.until("coder", "to be known again", ({ run }) => run !== null);
    expect(worker.session).toMatchObject({ id, proved: true, provenance: "rotated" });
    expect(worker.conversation?.rotatedFrom).toBe(old);
    const third = sessionIdIn(await talk.say("/new"));
    await talk.say("the third secret");
    await persona.until("coder", "to be followed again", ({ session }) => session?.id === third);
    await persona.kill("coder", talk);
    expect(await comesBack(persona)).toEqual({ id: third, first: "the third secret" });
  });

  it("is followed to a conversation that it began while no daemon was there", async () => {
    const persona = installPersona(vendor);
    const { talk } = await withSecret(persona);
    await killDaemon(persona.home);
    const id = sessionIdIn(await talk.say("/new"));
    await talk.say("the second secret");

    const worker = await persona.until("coder", "to be followed", ({ session }) => session?.id === id);
    expect(worker).toMatchObject({ attention: null, session: { proved: true } });
    await persona.kill("coder", talk);
    expect(await comesBack(persona)).toEqual({ id, first: "the second secret" });
  });

  it("is not marked for a conversation that it began before the daemon had seen the first", async () => {
    const persona = installPersona(vendor);
    await persona.home.perdure(["daemon", "start"]);
    const env = { ...persona.home.env, PERDURE_SCRIPT: "late 500" };
    const talk = persona.run("coder", ["--", persona.facts.program], { env });
    await persona.until("coder", "to have started", ({ run, state }) => run !== null && state !== "starting");
    await killDaemon(persona.home);
    await talk.answer();
    await talk.say("the first secret");
    const id = sessionIdIn(await talk.say("/clear"));
    await talk.say("the second secret");

    const worker = await persona.until("coder", "to be looked at", ({ session }) => {
      return session?.id === id || session?.proved === false;
    });
    expect(worker).toMatchObject({ attention: null, session: { id, proved: true } });
  });

  it("is followed to a conversation in which it was killed at once", async () => {
    const persona = installPersona(vendor);
    const { talk } = await withSecret(persona);
    const id = sessionIdIn(await talk.say("/clear"));
    await talk.say("the second secret");
    // Codex leaves nothing behind that says where a killed process was: it has to be seen alive there.
    if (!LEAVES_A_TRACE.has(vendor))
      await persona.until("coder", "to be seen there", ({ session }) => session?.id === id);
    await persona.kill("coder", talk);
    expect(await comesBack(persona)).toEqual({ id, first: "the second secret" });
  });

  it("is not led away by a nested agent", async () => {
    const persona = installPersona(vendor);
    const { talk, id } = await withSecret(persona);
    // Long enough to be seen by the daemon's next look.
    expect(await talk.say("/print /sleep 1500")).toContain("slept 1500 ms");
    expect(await talk.say("/print hello")).toContain("turns=1 first=hello");
    expect((await persona.show("coder")).session?.id).toBe(id);
    await persona.kill("coder", talk);
    expect(await comesBack(persona)).toEqual({ id, first: "the secret of coder" });
  });

  it("comes back in its own conversation after it looked into another worker's", async () => {
    const persona = installPersona(vendor);
    const { talk: other, id: theirs } = await withSecret(persona, "other");
    for (let turn = 0; turn < 5; turn++) await other.say(`long ${"x".repeat(300)}`);
    await other.end();
    const { talk, id } = await withSecret(persona);
    expect(sessionIdIn(await talk.say(`/resume ${theirs}`))).toBe(theirs);
    await eventually("coder to be seen there", async () => (await persona.events("session.foreign")).length > 0);
    expect((await persona.show("coder")).session?.id).toBe(id);
    expect((await persona.show("other")).session?.id).toBe(theirs);
    await persona.kill("coder", talk);
    expect(await comesBack(persona)).toEqual({ id, first: "the secret of coder" });
  });
});

// A hook says where the transcript is; the entry among live processes, which may be seen first, does not.
it.each([
  ["as its hooks tell", []],
  ["as its process shows", ["--settings", "{}"]],
])(
  "is not led into another worker's conversation by a config dir that is linked to that one's, %s",
  async (_how, args) => {
    const persona = installPersona("claude");
    const { talk: other, id: theirs } = await withSecret(persona, "other");
    await persona.until("other", "to have a transcript", ({ session }) => session?.proved === true);
    await other.end();
    const second = join(persona.home.dir, "second");
    mkdirSync(second);
    symlinkSync(join(persona.configDir, "projects"), join(second, "projects"));
    persona.home.env.CLAUDE_CONFIG_DIR = second;
    const { talk, id } = await withSecret(persona, "coder", args);
    await talk.say(`/resume ${theirs}`);
    await persona.until(
      "coder",
      "to be seen there",
      ({ attention, session }) => attention !== null || session?.id !== id,
    );
    expect(await persona.show("coder")).toMatchObject({
      session: { id },
      attention: `in another worker's conversation: ${theirs}`,
    });
    expect(await persona.events("session.foreign")).not.toEqual([]);
    await talk.end();
  },
);

describe.each(VENDORS)("%s", (vendor) => {
  it("is shown in another worker's conversation for as long as it is there, whatever else it keeps open", async () => {
    const persona = installPersona(vendor);
    const { talk: other, id: theirs } = await withSecret(persona, "other");
    await other.end();
    const { talk, id } = await withSecret(persona);
    const recorded = async (): Promise<number> => (await persona.show("coder")).conversation?.transcript?.bytes ?? 0;
    await eventually("its transcript to be seen", async () => (await recorded()) > 0);
    await talk.say(`/resume ${theirs}`);
    const where = `in another worker's conversation: ${theirs}`;
    await persona.until("coder", "to be seen there", ({ attention }) => attention === where);
    // What is new in its own transcript is noticed by a whole poll after that.
    const bytes = await recorded();
    appendFileSync(persona.transcript(id) ?? "", "\n");
    await eventually("another poll", async () => (await recorded()) > bytes);
    expect((await persona.show("coder")).attention).toBe(where);
    // The persona of codex keeps all locks, and writes no turns down, by which the real one shows that it is back.
    if (vendor === "codex") return;

    await talk.say(`/resume ${id}`);
    await talk.say("back");
    await persona.until("coder", "to be seen back", ({ attention }) => attention === null);
    await talk.end();
  });
});

describe.each(["scripted", "claude"] satisfies Vendor[])("%s", (vendor) => {
  it("goes along into an older conversation of its own", async () => {
    const persona = installPersona(vendor);
    const { talk, id: old } = await withSecret(persona);
    const id = sessionIdIn(await talk.say("/clear"));
    await talk.say("the second secret");
    await persona.until("coder", "to be followed", ({ session }) => session?.id === id);
    await talk.say(`/resume ${old}`);
    await persona.until("coder", "to be followed back", ({ session }) => session?.id === old);
    await persona.kill("coder", talk);
    expect(await comesBack(persona)).toEqual({ id: old, first: "the secret of coder" });
  });
});

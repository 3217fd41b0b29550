import { describe, expect, it } from "vitest";
import { VENDORS } from "../../../support/persona-facts.ts";
import { readBanner, type InstalledPersona } from "../../../support/persona.ts";
import { personaInstaller } from "../../../support/persona-installer.ts";

const installPersona = personaInstaller();

/** Comes up in another conversation than the one it was told, and says nothing about it. */
function misled(persona: InstalledPersona, then = ""): { env: Record<string, string> } {
  return { env: { ...persona.home.env, PERDURE_SCRIPT: `wrong-id; ${then}` } };
}

describe.each(VENDORS)("%s in a wrong conversation", (vendor) => {
  it("is marked, keeps its id, and comes back in its own", async () => {
    const persona = installPersona(vendor);
    const first = await persona.begin("coder");
    await first.say("the secret");
    const { session } = await persona.untilProved("coder");
    await first.end();

    const wrong = await persona.resume("coder", misled(persona));
    expect(wrong.banner.session).not.toBe(session?.id);
    const marked = await persona.until("coder", "to be marked", (worker) => worker.session?.proved === false);
    expect(marked.session?.id).toBe(session?.id);
    expect(marked.attention).toContain(wrong.banner.session);
    expect((await persona.events("session.mismatch")).map(({ worker }) => worker)).toEqual(["coder"]);
    // Longer than its own: what is there must not be taken for what it had.
    for (let turn = 0; turn < 5; turn++) await wrong.talk.say(`something else ${"x".repeat(200)}`);
    await persona.kill("coder", wrong.talk);

    const { talk, banner } = await persona.resume("coder");
    expect(banner).toEqual({ session: session?.id, turns: 1 });
    expect(await talk.say("more")).toContain("turns=2 first=the secret");
    expect((await persona.untilProved("coder")).attention).toBeNull();
  });

  it("at its very first start, has its own id still to come", async () => {
    const persona = installPersona(vendor);
    const talk = persona.run("coder", ["--", persona.facts.program], misled(persona));
    const wrong = readBanner(await talk.answer());
    await talk.say("something else");
    const marked = await persona.until("coder", "to be marked", (worker) => worker.session?.proved === false);
    expect(marked.session?.id).not.toBe(wrong.session);
    await persona.kill("coder", talk);

    const { banner } = await persona.resume("coder");
    expect(banner).toEqual({ session: marked.session?.id, turns: 0 });
  });

  it("is stopped if nobody sits in front of it", async () => {
    const persona = installPersona(vendor);
    const command = ["--", persona.facts.program, ...persona.facts.headless("the secret")];
    expect(await persona.home.perdure(["run", "coder", ...command])).toMatchObject({ code: 0 });
    const { session } = await persona.show("coder");

    const stopped = await persona.home.perdure(["run", "coder"], misled(persona, "/sleep 60000"));
    expect(stopped.code).not.toBe(0);
    expect(stopped.stderr).toContain(`${vendor} conversation ${session?.id}, but was not: `);
    const worker = await persona.until("coder", "to be stopped", ({ run }) => run === null);
    expect(worker.session).toMatchObject({ id: session?.id, proved: false });
    expect(worker.lastRun?.displacedBy).toContain("another conversation");
    expect(await persona.home.perdure(["run", "coder"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("turns=2 first=the secret") as string,
    });
  });
});

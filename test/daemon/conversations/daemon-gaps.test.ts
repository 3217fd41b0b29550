import { afterEach, describe, expect, it } from "vitest";
import { VENDORS, type Vendor } from "../../support/persona-facts.ts";
import { readBanner, type InstalledPersona } from "../../support/persona.ts";
import { ClaimProxy } from "../../support/claim-proxy.ts";
import { killDaemon, personaInstaller } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();
const proxies: ClaimProxy[] = [];
afterEach(() => {
  for (const proxy of proxies.splice(0)) proxy.close();
});

async function proxyOf(persona: InstalledPersona): Promise<ClaimProxy> {
  await persona.home.perdure(["daemon", "start"]);
  const proxy = await ClaimProxy.open(persona.home);
  proxies.push(proxy);
  return proxy;
}

/** Dies right after it has granted a claim; whoever comes next finds another one. */
async function crash(persona: InstalledPersona): Promise<"pass"> {
  await killDaemon(persona.home);
  await persona.home.perdure(["daemon", "start"]);
  return "pass";
}

/** Dies right after it has granted a claim, and nobody comes. */
async function vanish(persona: InstalledPersona): Promise<"pass"> {
  await killDaemon(persona.home);
  return "pass";
}

describe.each(VENDORS)("%s", (vendor) => {
  it("is in its own conversation when the daemon dies between claim and start", async () => {
    const persona = installPersona(vendor);
    const proxy = await proxyOf(persona);
    proxy.claims.onAnswer = () => crash(persona);
    const first = persona.run("coder", ["--", persona.facts.program], { env: proxy.env });
    const { session: id } = readBanner(await first.answer());
    await first.say("the secret");
    expect((await persona.untilProved("coder")).session?.id).toBe(id);
    await persona.kill("coder", first);

    const again = persona.run("coder", [], { env: proxy.env });
    expect(readBanner(await again.answer())).toEqual({ session: id, turns: 1 });
    const worker = await persona.untilProved("coder");
    expect(worker.session?.id).toBe(id);
    expect(worker.attention).toBeNull();
  });

  it("starts once when the answer to its claim is lost with the daemon", async () => {
    const persona = installPersona(vendor);
    const proxy = await proxyOf(persona);
    let claims = 0;
    proxy.claims.onAnswer = async () => {
      if (++claims > 1) return "pass";
      await crash(persona);
      return "lost";
    };
    const talk = persona.run("coder", ["--", persona.facts.program], { env: proxy.env });
    const { session: id } = readBanner(await talk.answer());
    expect(claims).toBe(2);
    expect(await persona.untilProved("coder")).toMatchObject({ session: { id }, generation: 1 });
    expect(persona.starts()).toHaveLength(1);
    expect(persona.holders(id)).toHaveLength(1);
  });

  it.each([0, 3])("that ran and ended with %i while no daemon was there is never called wrong", async (code) => {
    const persona = installPersona(vendor);
    const first = await persona.begin("coder");
    await first.say("the secret");
    const { session } = await persona.untilProved("coder");
    await first.end();
    const proxy = await proxyOf(persona);
    proxy.claims.onAnswer = () => vanish(persona);
    const talk = persona.run("coder", [], { env: proxy.env });
    expect(readBanner(await talk.answer())).toEqual({ session: session?.id, turns: 1 });
    talk.type(`/exit ${code}`);
    expect(await talk.ended).toMatchObject({ code });

    const worker = await persona.until("coder", "to have ended", ({ run }) => run === null);
    expect(worker.session?.id).toBe(session?.id);
    expect((await persona.resume("coder")).banner).toEqual({ session: session?.id, turns: 1 });
    await persona.untilProved("coder");
    const alone = (await persona.history("coder")).runs.find(({ id }) => id === worker.lastRun?.id);
    expect(alone?.exit).toBe(code);
    expect(alone?.sessions.map(({ id }) => id)).toEqual([session?.id]);
    expect(alone?.sessions[0]?.proved).not.toBe(false);
  });
});

describe.each(["scripted", "claude"] satisfies Vendor[])("%s", (vendor) => {
  it("that said something while no daemon was there is proved by it", async () => {
    const persona = installPersona(vendor);
    const proxy = await proxyOf(persona);
    proxy.claims.onAnswer = () => vanish(persona);
    const talk = persona.run("coder", ["--", persona.facts.program], { env: proxy.env });
    const { session: id } = readBanner(await talk.answer());
    await talk.say("the secret");
    await talk.end();
    const worker = await persona.untilProved("coder");
    expect(worker.session?.id).toBe(id);
    expect(worker.conversation?.evidence).toMatch(/./);
  });
});

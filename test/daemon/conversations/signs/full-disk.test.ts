import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { isPerdureError } from "../../../../src/protocol/errors.ts";
import { VENDORS } from "../../../support/persona-facts.ts";
import { eventually } from "../../../support/check.ts";
import type { InstalledPersona } from "../../../support/persona.ts";
import { killDaemon, personaInstaller, sessionIdIn } from "../../../support/persona-installer.ts";
import { sendParams } from "../../../support/send-params.ts";
import { cannotMount, SmallDisk } from "../../../support/small-disk.ts";
import type { Talk } from "../../../support/talk.ts";

const installPersona = personaInstaller();
const disks: { disk: SmallDisk; persona: InstalledPersona }[] = [];

// Before the home is cleared, which removes the folder that the disk is mounted at.
afterEach(async () => {
  for (const { disk, persona } of disks.splice(0)) {
    disk.empty();
    await persona.home.perdure(["daemon", "stop"]);
    disk.unmount();
  }
});

const missing = cannotMount();
if (missing !== null) process.stderr.write(`the tests of a full disk are skipped: ${missing}\n`);

async function onSmallDisk(
  vendor: (typeof VENDORS)[number],
): Promise<{ persona: InstalledPersona; disk: SmallDisk; talk: Talk; id: string }> {
  const persona = installPersona(vendor);
  const disk = new SmallDisk(persona.home.state, "8m");
  disks.push({ disk, persona });
  const talk = await persona.begin("coder");
  await talk.say("the first secret");
  const { session } = await persona.untilProved("coder");
  return { persona, disk, talk, id: session?.id ?? "" };
}

/** Fills the disk until the store takes nothing more: its log has some room of its own. */
async function fill({ persona, disk }: { persona: InstalledPersona; disk: SmallDisk }): Promise<void> {
  await eventually("the store to be full", async () => {
    disk.fill();
    const refused = await persona.call("send", sendParams(persona.home, "coder", "x")).then(
      () => false,
      (error: unknown) => isPerdureError(error) && error.code === "disk-full",
    );
    return refused;
  });
}

describe.skipIf(missing !== null).each(VENDORS)("%s, with the state folder's disk full", (vendor) => {
  it("is not told to be in the conversation that it has left, and is followed once there is room", async () => {
    const { persona, disk, talk, id } = await onSmallDisk(vendor);
    await fill({ persona, disk });
    const next = sessionIdIn(await talk.say("/new"));
    await talk.say("the second secret");
    const where = `moved to ${next}, which is not recorded yet: the disk is full`;
    const meanwhile = await persona.until("coder", "to be seen there", ({ attention }) => attention === where);
    expect(meanwhile).toMatchObject({ session: { id, proved: "pending" }, conversation: { proved: "pending" } });

    disk.empty();
    const after = await persona.until("coder", "to be followed", ({ session }) => session?.id === next);
    expect(after).toMatchObject({ attention: null, session: { proved: true } });
    expect(after.conversation?.rotatedFrom).toBe(id);
  });

  it("comes back in the conversation that it was in when it was killed, and the daemon before it", async () => {
    const { persona, disk, talk } = await onSmallDisk(vendor);
    await fill({ persona, disk });
    const next = sessionIdIn(await talk.say("/new"));
    await talk.say("the second secret");
    await persona.until("coder", "to be seen there", ({ attention }) => attention?.includes(next) === true);
    await killDaemon(persona.home);
    await persona.kill("coder", talk);
    disk.empty();

    const { talk: again, banner } = await persona.resume("coder");
    expect(banner.session).toBe(next);
    expect(await again.say("who?")).toContain("first=the second secret");
    await again.end();
  });
});

describe.skipIf(missing !== null)("with the state folder's disk full", () => {
  it("a hook that cannot write what it is told makes the conversation doubtful, until the next one can", async () => {
    const { persona, disk, talk } = await onSmallDisk("claude");
    // The registry would show where the agent is; some programs have nothing but hooks.
    const registry = join(persona.configDir, "sessions");
    for (const file of readdirSync(registry)) rmSync(join(registry, file));
    const [run = ""] = readdirSync(join(persona.home.state, "runs"));
    writeFileSync(join(persona.home.state, "runs", run, "event.7.0.p7"), "");
    const doubtful = await persona.until("coder", "to be doubted", ({ session }) => session?.proved !== true);
    expect(doubtful.attention).toBe("its conversation is unknown: a hook could not write, the disk is full");
    await killDaemon(persona.home);
    expect((await persona.show("coder")).session?.proved).toBe("pending");

    disk.empty();
    await talk.say("again");
    const after = await persona.until("coder", "to be sure again", ({ session }) => session?.proved === true);
    expect(after.attention).toBeNull();
  });

  it("a run that ends in doubt is not told to be sure", async () => {
    const { persona, talk } = await onSmallDisk("claude");
    const registry = join(persona.configDir, "sessions");
    for (const file of readdirSync(registry)) rmSync(join(registry, file));
    const [run = ""] = readdirSync(join(persona.home.state, "runs"));
    writeFileSync(join(persona.home.state, "runs", run, "event.7.0.p7"), "");
    await persona.until("coder", "to be doubted", ({ session }) => session?.proved === "pending");
    await persona.kill("coder", talk);
    const ended = await persona.untilEndRecorded("coder");
    expect(ended).toMatchObject({ session: { proved: "pending" } });
    expect(await persona.events("session.doubtful")).toHaveLength(1);
  });

  it("a program that ends well is told to have ended well", async () => {
    const { persona, disk, talk } = await onSmallDisk("claude");
    await fill({ persona, disk });
    expect((await talk.end()).code).toBe(0);
    disk.empty();
    await persona.until("coder", "to have ended", ({ run }) => run === null);
    const { runs } = await persona.history("coder");
    expect(runs[0]).toMatchObject({ reason: "exited", exit: 0 });
  });
});

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { newToken } from "../../../src/client/claim.ts";
import type { CallParams } from "../../../src/protocol/calls/index.ts";
import type { LaunchOrder } from "../../../src/protocol/records/launch.ts";
import { adapterOf } from "../../../src/vendors/index.ts";
import type { InstalledPersona } from "../../support/persona.ts";
import { VENDORS } from "../../support/persona-facts.ts";
import { targetIn } from "../../support/in-home.ts";
import { finish } from "../../support/home.ts";
import { personaInstaller, sessionIdIn } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();
const FIRST = '--resume it\'s "the task":\nfix $HOME';

interface Started {
  order: LaunchOrder;
  runDir: string;
  release: () => Promise<unknown>;
}

/** A start as far as its order, with something to say first. */
async function start(
  persona: InstalledPersona,
  prompt: string | null | undefined,
  args: string[] = [],
  fresh = false,
): Promise<Started> {
  const { home, facts } = persona;
  const vendor = { name: facts.vendor, programAt: 0 };
  const environment = { PATH: home.env.PATH ?? "", HOME: home.dir };
  const command = [facts.program, ...args];
  const launch = { command, cwd: home.project, environment, vendor, prompt };
  const holder = { target: targetIn(home, "coder"), token: newToken(), pid: process.pid };
  const grant = await persona.call("claim", { ...holder, ...launch, kind: "run", fresh, ephemeral: false });
  const { run, generation, token } = { ...grant, token: holder.token };
  const release = (): Promise<unknown> => persona.call("release", { run, generation, token });
  const { runDir } = grant;
  if (grant.launch) return { order: grant.launch, runDir, release };
  const session = await minted(persona, environment);
  return {
    order: await persona.call("bindConversation", { run, generation, token, session, ...launch, fresh }),
    runDir,
    release,
  };
}

async function minted({ home, facts }: InstalledPersona, environment: Record<string, string>): Promise<string> {
  const identity = adapterOf(facts.vendor)?.launch.identity;
  if (identity?.kind !== "minted") throw new Error(`${facts.vendor} makes no ids`);
  return identity.mint({
    command: [facts.program],
    args: [],
    name: "coder",
    cwd: home.project,
    environment,
    from: null,
  });
}

/** The vendor's program as it was ordered, with nobody who says more. */
async function play({ home }: InstalledPersona, { order: { command, files }, runDir }: Started): Promise<void> {
  for (const { name, text } of files) writeFileSync(join(runDir, name), text);
  const [program = "", ...args] = command;
  const { code, stderr } = await finish(
    spawn(program, args, { cwd: home.project, env: home.env, stdio: ["ignore", "pipe", "pipe"] }),
  );
  expect({ code, stderr }).toMatchObject({ code: 0 });
}

describe.each(VENDORS)("%s", (vendor) => {
  it("says first what it is told at the start of a new conversation, and never again", async () => {
    const persona = installPersona(vendor);
    const started = await start(persona, FIRST);
    const { order, release } = started;
    expect(order.command.slice(-2)).toEqual(["--", FIRST]);
    await play(persona, started);
    expect(persona.prompts(order.session?.id ?? "")).toEqual([FIRST]);
    await release();

    const again = await start(persona, FIRST);
    expect(again.order.session).toMatchObject({ id: order.session?.id, step: "resume" });
    expect(again.order.command).not.toContain(FIRST);
    await again.release();
  });

  it("says it at the next start, in the same conversation, if it ended before its first turn", async () => {
    const persona = installPersona(vendor);
    const { order, release } = await start(persona, FIRST);
    await release(); // before the program ran

    const started = await start(persona, FIRST);
    expect(started.order.session?.id).toBe(order.session?.id);
    expect(started.order.command.slice(-2)).toEqual(["--", FIRST]);
    await play(persona, started);
    expect(persona.prompts(order.session?.id ?? "")).toEqual([FIRST]);
    await started.release();
    const third = await start(persona, FIRST);
    expect(third.order.command).not.toContain(FIRST);
    await third.release();
  });

  it("A7: says it no more after /new, though the program was killed before anything was said there", async () => {
    const persona = installPersona(vendor);
    const talk = await persona.begin("coder");
    await talk.say("the task");
    const first = (await persona.untilProved("coder")).session?.id;
    const cleared = sessionIdIn(await talk.say("/new"));
    await persona.until("coder", "to go along", ({ session }) => session?.id === cleared);
    await persona.kill("coder", talk);
    expect(cleared).not.toBe(first);

    // The first start is given up before its first turn, too: the one after it is no beginning either.
    for (let attempt = 1; attempt <= 2; attempt++) {
      const { order, release } = await start(persona, FIRST);
      expect(order.session?.id).not.toBe(first);
      expect(order.command).not.toContain(FIRST);
      await release();
    }
    const fresh = await start(persona, FIRST, [], true);
    expect(fresh.order.command.slice(-2)).toEqual(["--", FIRST]);
    await fresh.release();
  });

  it.each([null, undefined])("says nothing when there is nothing to say: %s", async (nothing) => {
    const { order, release } = await start(installPersona(vendor), nothing);
    expect(order.command).not.toContain("--");
    await release();
  });
});

it("what cannot be an argument is refused before anything is claimed", async () => {
  const persona = installPersona("scripted");
  for (const prompt of ["", "a\0b", "x".repeat(64 * 1024)] satisfies CallParams<"claim">["prompt"][]) {
    await expect(start(persona, prompt)).rejects.toMatchObject({ code: "usage" });
  }
  expect(await persona.events("run.claimed")).toEqual([]);
});

import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../../../support/check.ts";
import type { InstalledPersona } from "../../../support/persona.ts";
import { killDaemon, personaInstaller } from "../../../support/persona-installer.ts";
import type { Talk } from "../../../support/talk.ts";

const installPersona = personaInstaller();

async function withSecret(): Promise<{ persona: InstalledPersona; talk: Talk; id: string; folder: string }> {
  const persona = installPersona("claude");
  const talk = await persona.begin("coder");
  await talk.say("the secret");
  const { session, run } = await persona.untilProved("coder");
  const runs = join(persona.home.state, "runs");
  const folder = readdirSync(runs).find((name) => name === run?.id) ?? "";
  return { persona, talk, id: session?.id ?? "", folder: join(runs, folder) };
}

/** Calls the run's hook as somebody in a shell would, with an id that is no conversation's; its parent is this process, or `parent`. */
function callByHand(folder: string, parent = process.pid): string {
  const session = randomUUID();
  const event = { hook_event_name: "SessionStart", source: "clear", session_id: session, transcript_path: "/nowhere" };
  execFileSync("/bin/sh", [join(folder, "hook"), "start", String(parent)], { input: JSON.stringify(event) });
  return session;
}

function left(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith("event."));
}

it.each(["a shell", "the agent's own process"])(
  "A1: a hook called by hand in %s with a made-up id moves nobody",
  async (whose) => {
    const { persona, talk, id, folder } = await withSecret();
    const [agent = 0] = persona.holders(id);
    const seen = new Set<string | undefined>();
    const made = callByHand(folder, whose === "a shell" ? process.pid : agent);
    // A turn of its own is told by later hooks, which are read after that one.
    await talk.say("more");
    await eventually("the agent's own hooks to be read", async () => {
      seen.add((await persona.show("coder")).session?.id);
      return left(folder).length <= 1;
    });
    expect([...seen]).toEqual([id]);
    await persona.kill("coder", talk);
    await persona.until("coder", "to end", ({ run }) => run === null);
    const { sessions } = await persona.history("coder");
    expect(sessions.map((each) => each.id)).toEqual([id]);
    expect(await persona.events("session.rotated")).toEqual([]);
    expect(JSON.stringify(await persona.home.json(["show", "coder"]))).not.toContain(made);
    expect((await persona.resume("coder")).banner).toEqual({ session: id, turns: 2 });
  },
);

it("A1: nor does one that was called while no daemon was there, by a run that has ended", async () => {
  const { persona, talk, id, folder } = await withSecret();
  await killDaemon(persona.home);
  callByHand(folder);
  await persona.kill("coder", talk);
  await persona.until("coder", "to end", ({ run }) => run === null);
  expect(await persona.events("session.rotated")).toEqual([]);
  expect((await persona.resume("coder")).banner).toEqual({ session: id, turns: 1 });
});

it("a hook that is called for a conversation that is on disk is believed, though its process shows nothing", async () => {
  const { persona, talk, id, folder } = await withSecret();
  await killDaemon(persona.home);
  await talk.say("/clear");
  await talk.say("the second secret");
  await persona.kill("coder", talk);
  // Without what a killed process leaves behind, its hooks alone tell where it was.
  rmSync(join(persona.configDir, "sessions"), { recursive: true });
  expect(left(folder).length).toBeGreaterThan(0);
  await persona.until("coder", "to be known there", ({ run, session }) => run === null && session?.id !== id);
  const { talk: again, banner } = await persona.resume("coder");
  expect(banner.session).not.toBe(id);
  expect(await again.say("who?")).toContain("first=the second secret");
});

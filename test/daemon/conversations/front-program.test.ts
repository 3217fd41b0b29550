import { cpSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { putInFront, type Trick } from "../../support/front-program.ts";
import type { InstalledPersona } from "../../support/persona.ts";
import { killDaemon, personaInstaller } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();
/** The time between what claude shows of its command line and what it opens: 30 to 100 ms with the real one. */
const OPENING = "opening 100";

interface Stage {
  persona: InstalledPersona;
  mine: string;
  strange: string;
  how: { env: Record<string, string> };
}

/** A worker with a conversation, a stranger's newer one in the same folder, and a program in front of the vendor's. */
async function withFront(trick: Trick, args: string[] = []): Promise<Stage> {
  const persona = installPersona("claude");
  const first = await persona.begin("coder", args);
  await first.say("the secret");
  const mine = (await persona.untilProved("coder")).session?.id ?? "";
  await first.end();
  const strange = randomUUID();
  const stranger = persona.runDirectly(["--session-id", strange]);
  await stranger.answer();
  await stranger.say("the stranger's secret");
  await stranger.end();
  const soon = Date.now() / 1_000 + 1;
  utimesSync(persona.transcript(strange) ?? "", soon, soon);
  const { home } = persona;
  const facts = {
    program: "claude",
    real: join(home.dir, "bin", "claude"),
    newest: ["--continue"],
    other: { words: ["--resume", strange], id: strange, file: null },
    transcript: persona.transcript(mine),
  };
  const PATH = putInFront(join(home.dir, "front"), facts, trick, home.env.PATH ?? "");
  await persona.untilEndRecorded("coder");
  return { persona, mine, strange, how: { env: { ...home.env, PATH, PERDURE_SCRIPT: OPENING } } };
}

async function expectInItsOwn({ persona, mine }: Stage): Promise<void> {
  const { talk, banner } = await persona.resume("coder");
  expect(banner).toEqual({ session: mine, turns: 1 });
  await talk.end();
}

it("A1: a program in front that adds --continue carries nobody into a stranger's conversation", async () => {
  const stage = await withFront("add newest");
  const { persona, mine, strange, how } = stage;
  const wrong = await persona.resume("coder", how);
  expect(wrong.banner.session).toBe(strange);
  const marked = await persona.until("coder", "to be judged", ({ session }) => session?.proved !== "pending");
  expect(marked.session).toMatchObject({ id: mine, proved: false });
  expect(marked.attention).toContain(strange);
  await wrong.talk.end();
  expect(await persona.events("session.rotated")).toEqual([]);
  await expectInItsOwn(stage);
});

it("A1: nor without hooks of ours, when its registry alone tells", async () => {
  const settings = join(installPersona("claude").home.dir, "own.json");
  writeFileSync(settings, "{}");
  const stage = await withFront("add newest", ["--settings", settings]);
  const { persona, mine, how } = stage;
  const wrong = await persona.resume("coder", how);
  const marked = await persona.until("coder", "to be judged", ({ session }) => session?.proved !== "pending");
  expect(marked.session).toMatchObject({ id: mine, proved: false });
  await wrong.talk.end();
  await expectInItsOwn(stage);
});

it("A1: nor with another daemon between the command line's id and the conversation", async () => {
  const stage = await withFront("add newest");
  const { persona, mine, how } = stage;
  const echoed = { env: { ...how.env, PERDURE_SCRIPT: "opening 1500" } };
  const talk = persona.run("coder", [], echoed);
  await persona.until("coder", "to be started", ({ run }) => run !== null && persona.holders(mine).length > 0);
  expect((await persona.show("coder")).session).toMatchObject({ id: mine, proved: "pending" });
  await killDaemon(persona.home);
  await talk.answer();
  await talk.say("something else");
  const marked = await persona.until("coder", "to be judged", ({ session }) => session?.proved !== "pending");
  expect(marked.session).toMatchObject({ id: mine, proved: false });
  await talk.end();
  await expectInItsOwn(stage);
});

it("A1: a program in front that starts another one behind the worker's own takes nobody there", async () => {
  const stage = await withFront("again");
  const { persona, mine, how } = stage;
  const { stderr, code } = await persona.run("coder", ["--", "claude", "-p", "said twice"], how).ended;
  expect(code).not.toBe(0);
  expect(stderr).toContain("of another process, after its own had ended");
  expect((await persona.untilEndRecorded("coder")).session).toMatchObject({ id: mine, proved: false });
  expect(persona.prompts(mine)).toEqual(["the secret", "said twice"]);
  expect(await persona.events("session.rotated")).toEqual([]);
  const { stdout } = await persona.run("coder", ["--", "claude", "-p", "back again"]).ended;
  expect(stdout).toContain("turns=3 first=the secret");
});

it("A1: a claude that opens nothing and exits 1 is not proved", async () => {
  const stage = await withFront("hide");
  const { persona, mine, how } = stage;
  const { code } = await persona.run("coder", [], how).ended;
  expect(code).toBe(1);
  const { session } = await persona.untilEndRecorded("coder");
  expect(session).toMatchObject({ id: mine, proved: "pending" });
  await expectInItsOwn(stage);
});

it("A1: what a foreign process wrote is no proof of a run that opened nothing", async () => {
  const stage = await withFront("sleep");
  const { persona, mine, how } = stage;
  const talk = persona.run("coder", [], how);
  await persona.until("coder", "to be started", ({ run }) => run !== null);
  const foreign = persona.runDirectly(["--resume", mine]);
  await foreign.answer();
  await foreign.say("by hand");
  await talk.ended;
  expect(persona.prompts(mine)).toEqual(["the secret", "by hand"]);
  await persona.until("coder", "to be ended", ({ run }) => run === null);
  await foreign.end();
  // A start waits until everything is known of the run before it.
  const { talk: next } = await persona.resume("coder");
  const [, before] = (await persona.history("coder")).runs;
  expect(before?.sessions).toMatchObject([{ id: mine, proved: "pending" }]);
  await next.end();
});

describe.each(["claude", "codex"] as const)(
  "A1: a program in front of %s that leads to an older copy of the config dir",
  (vendor) => {
    it("is never proved, and takes nothing from the worker's own conversation", async () => {
      const persona = installPersona(vendor);
      const { home, facts } = persona;
      const first = await persona.begin("coder");
      await first.say("the secret");
      const mine = (await persona.untilProved("coder")).session?.id ?? "";
      await first.end();
      await persona.untilEndRecorded("coder");
      const copy = join(home.dir, "copy");
      cpSync(persona.configDir, copy, { recursive: true });
      const second = await persona.resume("coder");
      await second.talk.say("said after the copy was made");
      await second.talk.end();
      await persona.untilEndRecorded("coder");

      const front = join(home.dir, "front");
      mkdirSync(front);
      const real = join(home.dir, "bin", facts.program);
      const script = `#!/bin/sh\n${facts.variable}='${copy}' exec '${real}' "$@"\n`;
      writeFileSync(join(front, facts.program), script, { mode: 0o755 });
      const env = { ...home.env, PATH: `${front}:${home.env.PATH}` };
      for (let run = 1; run <= 2; run++) {
        const astray = await persona.resume("coder", { env });
        expect(astray.banner).toEqual({ session: mine, turns: run });
        await astray.talk.say("astray");
        const marked = await persona.until("coder", "to be judged", ({ session }) => session?.proved !== "pending");
        expect(marked.session).toMatchObject({ id: mine, proved: false });
        expect(marked.attention).toContain(`a copy of ${mine} in ${copy}`);
        await astray.talk.end();
        expect((await persona.untilEndRecorded("coder")).session).toMatchObject({ id: mine, proved: false });
      }
      const { talk, banner } = await persona.resume("coder");
      expect(banner).toEqual({ session: mine, turns: 2 });
      expect((await persona.untilProved("coder")).session?.id).toBe(mine);
      await talk.end();
    });
  },
);

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, expect, test } from "vitest";
import type { WorkerSummary } from "../../../src/protocol/records/worker.ts";
import { personaInstaller } from "../../support/persona-installer.ts";
import { readBanner, type InstalledPersona } from "../../support/persona.ts";
import type { Talk } from "../../support/talk.ts";
import { Shell } from "../../terminal/shell.ts";
import { CLEAN, Tmux } from "../../terminal/tmux.ts";

const installPersona = personaInstaller();
const servers: Tmux[] = [];

// Registered after the homes' own, so it runs before they are cleared.
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

/** A conversation that was begun without perdure, still open. */
async function byHand(persona: InstalledPersona, words: string): Promise<{ talk: Talk; id: string }> {
  const talk = persona.runDirectly([]);
  const { session: id } = readBanner(await talk.answer());
  await talk.say(words);
  return { talk, id };
}

async function shellOf({ home }: InstalledPersona): Promise<Shell> {
  const tmux = await Tmux.start(home);
  servers.push(tmux);
  return Shell.start(tmux, home);
}

async function sessions({ home }: InstalledPersona): Promise<Record<string, string | undefined>> {
  const { workers } = await home.json<{ workers: WorkerSummary[] }>(["ls"]);
  return Object.fromEntries(workers.map(({ name, session }) => [name, session?.id]));
}

test("at a terminal adopt is a picker: several at once, each with a name", async () => {
  const persona = installPersona("claude");
  const ids: string[] = [];
  for (const words of ["first words", "second words"]) {
    const { talk, id } = await byHand(persona, words);
    await talk.end();
    ids.push(id);
  }
  const shell = await shellOf(persona);
  const { pane } = shell;
  await pane.line("$P adopt");
  await pane.shows(/› \[ \] claude .*second words[^]*\[ \] claude .*first words/);
  await pane.keys("q");
  await pane.shows(/Nothing was adopted/);
  expect(await shell.status()).toBe(0);
  expect(await sessions(persona)).toEqual({});

  await pane.line("clear; $P adopt");
  await pane.shows(/› \[ \] claude/);
  await pane.keys("a");
  await pane.shows(/\[x\] .*\n.*\[x\] /);
  await pane.keys("Enter");
  await pane.shows(/Name for claude, "second words" \[claude\]: /);
  await pane.keys("Enter");
  await pane.shows(/Name for claude, "first words" \[claude-2\]: /);
  await pane.line("claude");
  await pane.shows(/claude is taken/);
  await pane.line("coder");
  expect(await shell.status()).toBe(0);
  expect(await pane.modes()).toEqual(CLEAN);
  expect(await sessions(persona)).toEqual({ coder: ids[0], claude: ids[1] });
});

test("adopt --live waits for the process that has the conversation open", async () => {
  const persona = installPersona("claude");
  const { talk, id } = await byHand(persona, "open words");
  const args = ["adopt", "coder", "--vendor", "claude", "--conversation", id, "--live"];
  const adopting = persona.home.spawn(args);
  const ended = once(adopting, "close");
  const [line] = (await once(createInterface({ input: adopting.stderr! }), "line")) as [string];
  expect(line).toBe(`coder: waiting for pid ${talk.pid}, which has the conversation open: quit it there`);
  expect(await sessions(persona)).toEqual({});
  await talk.end();
  expect(await ended).toEqual([0, null]);
  expect(await sessions(persona)).toEqual({ coder: id });
});

test("at a terminal one that is open is left out, with the way to have it, before anybody is asked for a name", async () => {
  const persona = installPersona("claude");
  const { talk } = await byHand(persona, "open words");
  const shell = await shellOf(persona);
  const { pane } = shell;
  await pane.line("$P adopt");
  await pane.shows(/› \[ \] claude .*open in pid/);
  await pane.keys("a", "Enter");
  await pane.shows(
    /Left out: claude, "open words" is open in pid [0-9]+; quit it there[^]*--live[^]*Nothing was adopted/,
  );
  expect(await shell.status()).toBe(0);
  expect(await pane.screen()).not.toContain("Name for");
  await talk.end();
});

test("at a terminal init offers agents and conversations, and what it wrote is trusted", async () => {
  const persona = installPersona("claude");
  const { talk, id } = await byHand(persona, "known words");
  await talk.end();
  const shell = await shellOf(persona);
  const { pane } = shell;
  await pane.line("$P init");
  await pane.shows(/› \[x\] claude +agent[^]*\[ \] claude .*known words/);
  await pane.keys("Down", "Space", "Enter");
  await pane.shows(/Name for claude, "known words" \[claude\]: /);
  await pane.line("old-hand");
  expect(await shell.status()).toBe(0);
  const text = readFileSync(join(persona.home.project, "perdure.toml"), "utf8");
  expect(text).toMatch(
    /\n\[workers\.planner\]\n[^]*\n\[workers\.coder\]\nvendor = "claude"\n[^]*\n\[workers\.old-hand\]\nvendor = "claude"\n/,
  );
  expect(await sessions(persona)).toEqual({ "old-hand": id });
  expect(await persona.home.json(["up"])).toMatchObject({ started: 3, refused: 0 });
  expect((await sessions(persona))["old-hand"]).toBe(id);
  await persona.home.perdure(["down"]);
});

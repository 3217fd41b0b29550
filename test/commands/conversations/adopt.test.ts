import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
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

test("at a terminal one that is open cannot be marked, and it says in which window of tmux it is", async () => {
  const persona = installPersona("claude");
  const shell = await shellOf(persona);
  const other = await Shell.start(servers.at(-1)!, persona.home);
  await other.pane.line("claude");
  await other.pane.shows(/claude/);
  await other.pane.line("open words");
  await other.pane.shows(/open words[^]*open words/);
  const { pane } = shell;
  await pane.line("$P adopt");
  await pane.shows(/› \[ \] claude .*open in tmux \S+:\d+\.\d+ \(pid [0-9]+\)/);
  await pane.keys("Space");
  await pane.shows(/\[ \] claude[^]*open in tmux .*: quit it there first, or: perdure adopt --live/);
  await pane.keys("a", "Enter");
  await pane.shows(/Nothing was adopted/);
  expect(await shell.status()).toBe(0);
  expect(await pane.screen()).not.toContain("Name for");
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
  await pane.shows(/Name for a new claude worker \[planner\]: /);
  await pane.line("architect");
  await pane.shows(/Name for a new claude worker \[coder\]: /);
  await pane.keys("Enter");
  await pane.shows(/Name for claude, "known words" \[claude\]: /);
  await pane.line("old-hand");
  expect(await shell.status()).toBe(0);
  const text = readFileSync(join(persona.home.project, "perdure.toml"), "utf8");
  expect(text).toMatch(
    /\n\[workers\.architect\]\nvendor = "claude"\n[^]*\n\[workers\.coder\]\nvendor = "claude"\n[^]*\n\[workers\.old-hand\]\nvendor = "claude"\n/,
  );
  expect(await sessions(persona)).toEqual({ "old-hand": id });
  expect(await persona.home.json(["up"])).toMatchObject({ started: 3, refused: 0 });
  expect((await sessions(persona))["old-hand"]).toBe(id);
  await persona.home.perdure(["down"]);
});

test("what was adopted goes on under its name: up and adopt say the command that adds it, and init writes it with its vendor", async () => {
  const persona = installPersona("claude");
  const { home } = persona;
  const { talk, id } = await byHand(persona, "known words");
  await talk.end();
  const adopted = await home.perdure(["adopt", "planner", "--vendor", "claude", "--conversation", id]);
  const add = "perdure up planner --vendor claude";
  expect(adopted.stderr).toContain(`→ in the fleet: ${add}; in this terminal: perdure run planner`);
  const missing = await home.perdure(["up", "planner"]);
  expect(missing).toMatchObject({ code: 3, stderr: expect.stringContaining(`into the fleet: ${add};`) as string });
  writeFileSync(join(home.project, "perdure.toml"), '[workers.other]\nvendor = "scripted"\n');
  const left = await home.perdure(["up", "planner"]);
  expect(left.stderr).toMatch(
    /api\/planner is known, and \S+ does not have it\.\n.*perdure up planner --vendor claude;/,
  );

  rmSync(join(home.project, "perdure.toml"));
  const written = await home.perdure(["init"]);
  expect(written.stderr).toContain("Workers that go on in it: planner\n");
  const text = readFileSync(join(home.project, "perdure.toml"), "utf8");
  expect(text.match(/^\[workers\..*\n.*$/gm)).toEqual([
    '[workers.coder]\nvendor = "claude"',
    '[workers.planner]\nvendor = "claude"',
  ]);
  expect(await home.json(["up"])).toMatchObject({ started: 2, refused: 0 });
  expect((await sessions(persona)).planner).toBe(id);
  await home.perdure(["down"]);
  writeFileSync(join(home.project, "perdure.toml"), '[workers.planner]\nvendor = "scripted"\n');
  const { stderr } = await home.perdure(["up", "--yes"]);
  expect(stderr).toContain('to go on with it: vendor = "claude" in [workers.planner] of perdure.toml; else ');
});

test("a conversation in which nothing was said yet is not called new at the next up", async () => {
  const persona = installPersona("claude");
  const { home } = persona;
  writeFileSync(join(home.project, "perdure.toml"), '[workers.lead]\nvendor = "claude"\n');
  expect((await home.perdure(["up", "--yes"])).stderr).toMatch(/lead {2}\S+ new claude …/);
  const id = (await sessions(persona)).lead;
  await home.perdure(["down"]);
  expect((await home.perdure(["up"])).stderr).toMatch(/lead {2}\S+ still empty, claude …/);
  expect((await sessions(persona)).lead).toBe(id);
  await home.perdure(["down"]);
});

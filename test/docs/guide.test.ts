import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { readIfThere } from "../../src/state/files.ts";
import { InstalledPersona } from "../support/persona.ts";
import type { Vendor } from "../support/persona-facts.ts";
import { within } from "../support/check.ts";
import { BIN, Home } from "../support/home.ts";
import { Tmux, until, type Pane } from "../terminal/tmux.ts";
import { readGuidePage, type GuidePage, type PageCommand, type PageSetting } from "./guide-page.ts";

const GUIDE = resolve(import.meta.dirname, "../../docs/guide");
const PAGES = readdirSync(GUIDE).filter((file) => file.endsWith(".md"));
const PARAGRAPH_LINES_MAX = 5;
const LINE_WIDTH_MAX = 132;

let home: Home;
let tmux: Tmux | null = null;
afterEach(async () => {
  await tmux?.stop();
  tmux = null;
  await home.clear();
});

describe("the pages by task", () => {
  it.each(PAGES)(
    "%s: its commands do what it says, typed in a terminal in their order",
    async (file) => {
      const page = readGuidePage(join(GUIDE, file));
      for (const { block, reason } of page.notRun) console.log(`${file}: not run, ${reason}:\n${block}`);
      await prepare(page);
      expect(await typeAll(page)).toEqual([]);
    },
    120_000,
  );

  it.each(PAGES)("%s: its paragraphs and lines are short enough to be read", (file) => {
    home = new Home();
    const prose = readFileSync(join(GUIDE, file), "utf8").replace(/^```[^]*?^```$/gm, "");
    const paragraphs = prose.split(/\n\n+/).filter((text) => !/^[|-]/.test(text));
    expect(paragraphs.filter((text) => text.split("\n").length > PARAGRAPH_LINES_MAX)).toEqual([]);
    expect(prose.split("\n").filter((line) => line.length > LINE_WIDTH_MAX)).toEqual([]);
  });
});

/** Types the commands of a page in one shell; returns what ended otherwise than the page says, with the screen. */
async function typeAll({ commands }: GuidePage): Promise<string[]> {
  if (commands.length === 0) return [];
  tmux = await Tmux.start(home);
  const shell = await openShell(tmux);
  for (const command of commands) {
    const code = await type(shell, command);
    if (code !== command.exit) return [`${command.line}: exit ${code}\n${await shell.screen()}`];
  }
  return [];
}

async function prepare({ setting }: GuidePage): Promise<void> {
  home = new Home();
  home.env.SHELL = "/bin/bash";
  const personas = setting.agents.map((vendor) => new InstalledPersona(home, vendor as Vendor));
  const bin = join(home.dir, "bin");
  mkdirSync(bin, { recursive: true });
  symlinkSync(BIN, join(bin, "perdure"));
  home.env.PATH = `${bin}:${dirname(process.execPath)}:${home.env.PATH}`;
  home.git(["init", "-q"]);
  home.git(["commit", "-q", "--allow-empty", "-m", "begin"]);
  if (setting.fleet) await bringUpFleet(setting);
  if (setting.turns) await trustTurns(setting);
  const [first] = personas;
  if (setting.conversation && first !== undefined) await beginByHand(first);
  if (setting.moved) renameSync(home.project, join(home.dir, "moved"));
}

/** Writes the fleet file of the page, and agrees to it as the page says. */
async function trustTurns({ agents: [vendor = "claude"] }: PageSetting): Promise<void> {
  writeFileSync(join(home.project, "perdure.toml"), `[workers.reviewer]\nvendor = "${vendor}"\nmode = "turn"\n`);
  expect((await home.perdure(["trust", "--yes"])).code).toBe(0);
}

async function bringUpFleet({ agents: [planner = "claude", coder = planner] }: PageSetting): Promise<void> {
  const worker = (name: string, vendor: string): string => `[workers.${name}]\nvendor = "${vendor}"\n`;
  writeFileSync(join(home.project, "perdure.toml"), worker("planner", planner) + worker("coder", coder));
  expect((await home.perdure(["up", "--yes"])).stderr).not.toMatch(/perdure:/);
  for (const name of ["planner", "coder"]) {
    await home.until(name, ({ state, session }) => state === "idle" && session?.proved === true);
  }
}

async function beginByHand(persona: InstalledPersona): Promise<void> {
  const talk = persona.runDirectly([]);
  await within("a greeting", talk.answer());
  await within("an answer", talk.say("what do the tests need?"));
  await talk.end();
}

/** Opens a shell that writes the exit code of each command to a file. */
async function openShell(server: Tmux): Promise<Pane> {
  const rc = join(home.dir, "rc");
  writeFileSync(rc, `PROMPT_COMMAND='echo $? >> "${codesFile()}"'\nPS1='$ '\n`);
  const shell = await server.pane(["bash", "--rcfile", rc, "-i"], { PATH: home.env.PATH ?? "" });
  await until(
    "a prompt",
    () => (codes().length > 0 ? true : null),
    () => shell.screen(),
  );
  return shell;
}

const codesFile = (): string => join(home.dir, "codes");
const codes = (): string[] => (readIfThere(codesFile()) ?? "").split("\n").filter(Boolean);

/** Types a command as a person would; returns its exit code. */
async function type(shell: Pane, { line, answer, keys, folder }: PageCommand): Promise<number> {
  if (folder !== ".") await typed(shell, `cd ${join(home.project, folder)}`);
  await typed(shell, "clear");
  const asked = codes().length;
  await shell.line(await filledIn(line));
  if (answer !== null) {
    await shell.shows(/\[y\/N\]/i);
    await shell.line(answer);
  }
  if (keys !== null) {
    await shell.shows(/history: \d+ turns|^> ?$|q quit|q none/m);
    for (const [at, key] of keys.entries()) {
      // Each further Enter answers one more question with what it offers.
      if (at > 0 && key === "Enter") await shell.shows(new RegExp(`(?:\\]: [^]*){${at}}`));
      await shell.keys(key);
    }
  }
  return codeAfter(shell, asked);
}

async function typed(shell: Pane, line: string): Promise<void> {
  const asked = codes().length;
  await shell.line(line);
  await codeAfter(shell, asked);
}

async function codeAfter(shell: Pane, asked: number): Promise<number> {
  return until(
    "the end of a command",
    () => (codes().length > asked ? Number(codes()[asked]) : null),
    () => shell.screen(),
  );
}

/** Puts the id that a person would read from a list in the place of ID. */
async function filledIn(line: string): Promise<string> {
  if (!line.includes("ID")) return line;
  const { conversations } = await home.json<{ conversations: { id: string }[] }>(["adopt"]);
  return line.replace("ID", conversations[0]?.id.slice(0, 8) ?? "");
}

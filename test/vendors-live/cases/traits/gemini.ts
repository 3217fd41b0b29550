import assert from "node:assert/strict";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { editJson } from "../../harness/files.ts";
import type { OwnHooks, Traits } from "../../traits.ts";

const MODEL = "made-up-model-7";
const SHELL = ["--allowed-tools", "run_shell_command"];
const SETTINGS = ["-m", MODEL, "--approval-mode", "plan"];
const SAID = /"type":"user","content":\[\{"text":"(?!<session_context>)/;

export const gemini: Traits = {
  interactive: [],
  partner: "claude",
  toolName: (tool, server = "perdure") => `mcp_${server}_${tool}`,
  provenance: "assigned",
  hidesArguments: false,
  database: null,
  hasRunHome: true,
  config: {
    variable: "GEMINI_CLI_HOME",
    dir: (home) => home,
    transcripts: ".gemini/tmp/*/chats/*.jsonl",
    // The name has eight characters of the id; a stub that a resume has left names it too, and has nothing said in it.
    isOf: (file, session) => {
      const text = readFileSync(file, "utf8");
      return text.startsWith(`{"sessionId":"${session}"`) && SAID.test(text);
    },
  },
  age,
  shell: {
    args: { headless: SHELL, tui: SHELL },
    call: (command) => `[[tool run_shell_command ${JSON.stringify({ command })}]]`,
    stays: "gemini starts every command in its own folder: a cd moves nothing",
  },
  failures: {
    refused: /^✕ \[API Error: .*"code":401,/,
    // It retries for minutes.
    limited: null,
  },
  asking: {
    args: [],
    call: '[[tool run_shell_command {"command":"touch it"}]]',
    question: /Allow execution of/,
    yes: ["Enter"],
    tells: true,
  },
  settings: { args: { headless: SETTINGS, tui: SETTINGS }, model: MODEL, permissions: /Plan Mode/g, told: true },
  tellsVersion: false,
  spendsIds: "gemini writes its file before the first prompt and takes the id no more: the next start has a new one",
  ours: { headless: own, tui: own },
  ownHooks,
  oursKept: (home) => assert.ok(existsSync(join(home, "own-hook-ran")), "the user's own hook ran"),
  ownServers: {
    add: (home, servers) => {
      const all = Object.entries(servers).map(([name, [command, ...args]]) => [name, { command, args, trust: true }]);
      const file = join(home, ".gemini", "settings.json");
      editJson(file, (settings) => ({ ...settings, mcpServers: Object.fromEntries(all) }));
      writeFileSync(file, `// mine\n${readFileSync(file, "utf8")}`);
    },
    args: () => [],
    settings: [".gemini/settings.json*", ".gemini/trustedFolders.json", ".gemini/GEMINI.md", "api/.gemini/*"],
  },
  changing: {
    line: "/vim",
    steps: [],
    done: /Entered Vim mode/,
    file: ".gemini/settings.json",
    saved: /"vimMode": true/,
  },
  provider: null,
  ownFolder: null,
  renewsAtPrompt: null,
  choosing: { newest: ["--resume", "latest"], resume: (id) => ["--resume", id] },
  refusesSecond: null,
  splits: false,
  wokenInPane: true,
  secondAsks: null,
  slow: { inTerminal: "i j t y z bi bn", unhurried: "j t z bi bn", quick: "a i s w" },
  naming: null,
  keepsUnanswered: true,
  unrecorded: null,
  cannot: {
    o: "gemini knows its provider by variables, not by arguments",
    q: "/clear stays in the folder",
  },
};

/** `session-2026-11-16T02-35-11111111.jsonl`, in the day's minutes. */
function age(file: string): void {
  const earlier = file.replace(/session-(.{10})T(\d\d)-(\d\d)-/, (_, day: string, hours: string, minutes: string) => {
    const before = new Date(Date.parse(`${day}T${hours}:${minutes}Z`) - 60_000).toISOString();
    return `session-${before.slice(0, 16).replace(":", "-")}-`;
  });
  assert.ok(earlier !== file && !existsSync(earlier), `a minute earlier than ${file}`);
  renameSync(file, earlier);
}

/** Hooks of the user's and a server of tools, which leaves its mark when it is started and is good for nothing else. */
function ownHooks(home: string): OwnHooks {
  const file = join(home, ".gemini", "settings.json");
  const events = ["BeforeAgent", "AfterAgent"];
  const marks = [...events, "mcp"].map((what) => join(home, `own-${what}-ran`));
  const touch = (at: number): string => `touch '${marks[at]}'`;
  const hooks = Object.fromEntries(
    events.map((event, at) => [event, [{ hooks: [{ type: "command", command: touch(at) }] }]]),
  );
  editJson(file, (settings) => ({
    ...settings,
    hooks,
    mcpServers: { own: { command: "/bin/sh", args: ["-c", touch(events.length)], trust: true } },
  }));
  return { settings: [file], marks };
}

/** A hook of the user's on an event that perdure hooks too, in a file with comments. */
function own(home: string): string[] {
  const file = join(home, ".gemini", "settings.json");
  const hook = { type: "command", command: `touch '${join(home, "own-hook-ran")}'` };
  editJson(file, (settings) => ({ ...settings, hooks: { SessionStart: [{ hooks: [hook] }] } }));
  writeFileSync(file, `// "mine"\n${readFileSync(file, "utf8")}/* { */\n`);
  return [];
}

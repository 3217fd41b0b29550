import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { editJson, inSettings, writeJson } from "../../harness/files.ts";
import type { OwnHooks, Traits } from "../../traits.ts";

const SKIP = "CLAUDE_CODE_SKIP_PROMPT_HISTORY";
const MODEL = "made-up-model-7";
// Not in auto mode, whose safety check is on a server of the vendor's.
const SHELL = ["--permission-mode", "default", "--allowedTools=Bash"];
const SETTINGS = ["--model", MODEL, "--permission-mode", "plan"];

export const claude: Traits = {
  interactive: [],
  partner: "codex",
  toolName: (tool, server = "perdure") => `mcp__${server}__${tool}`,
  provenance: "assigned",
  tellsVersion: true,
  hidesArguments: false,
  database: null,
  config: { variable: "CLAUDE_CONFIG_DIR", dir: (home) => home, transcripts: "projects/*/*.jsonl" },
  shell: {
    args: { headless: SHELL, tui: SHELL },
    call: (command) => `[[tool Bash ${JSON.stringify({ command })}]]`,
    stays: null,
  },
  failures: {
    env: { CLAUDE_CODE_MAX_RETRIES: "1" },
    refused: /^Please run \/login · API Error: 401 made-up error 401$/,
    limited: { directive: "429 rate_limit_error", says: /^API Error: Request rejected \(429\) · made-up error 429$/ },
    withoutLogin: { unset: "ANTHROPIC_API_KEY", says: /^Not logged in · Please run \/login$/ },
  },
  asking: {
    args: ["--permission-mode", "default"],
    call: '[[tool Bash {"command":"touch it"}]]',
    question: /Do you want to proceed\?/,
    yes: ["Enter"],
    tells: true,
    distrusts: {},
  },
  closesWake: {
    args: ["--dangerously-skip-permissions"],
    // Without it, it refuses that to root.
    env: { IS_SANDBOX: "1" },
    // What it writes when its user has said yes to its warning.
    configure: (home) => {
      inSettings(join(home, ".claude/settings.json"), { skipDangerousModePermissionPrompt: true });
    },
  },
  heldFrame: { registry: ".claude/sessions/*.json", question: /❯ Deny — drop it/, no: ["Escape"] },
  settings: { args: { headless: SETTINGS, tui: SETTINGS }, model: MODEL, permissions: /"permissionMode":"plan"/g },
  ours: { headless: own, tui: own },
  ownHooks,
  ownServers: {
    add: (home, servers) => {
      const all = Object.entries(servers).map(([name, [command, ...args]]) => [
        name,
        { type: "stdio", command, args, alwaysLoad: true },
      ]);
      editJson(join(home, ".claude.json"), (state) => ({ ...state, mcpServers: Object.fromEntries(all) }));
    },
    args: (servers) => servers.flatMap((server) => ["--allowedTools", `mcp__${server}`]),
    settings: [".claude/*.json", ".claude.json", "api/.mcp.json", "api/.claude/*"],
    // It counts its starts in there.
    within: { ".claude.json": (text) => (JSON.parse(text) as { mcpServers: unknown }).mcpServers },
  },
  changing: {
    line: "/theme",
    steps: [{ sees: /Light mode/, press: ["Down", "Enter"] }],
    done: /Theme set to light/,
    file: ".claude/settings.json",
    saved: /"theme": "light"/,
  },
  provider: null,
  ownFolder: null,
  renewsAtPrompt: null,
  choosing: { newest: ["--continue"], resume: (id) => ["--resume", id] },
  refusesSecond: null,
  splits: true,
  secondAsks: null,
  failsToRecord: /^Transcript writes are failing \(/,
  naming: "/rename",
  keepsUnanswered: true,
  losesSilently: true,
  unrecorded: {
    known: [
      { env: { [SKIP]: "1" }, says: `${SKIP}=1 in the environment` },
      ...[".claude/settings.json", "api/.claude/settings.json", "api/.claude/settings.local.json"].map((name) => ({
        configure: (home: string) => inSettings(join(home, name), { env: { [SKIP]: "1" } }),
        says: `${SKIP}=1 in /`,
      })),
      { args: ["--settings", JSON.stringify({ env: { [SKIP]: "1" } })], says: `${SKIP}=1 in --settings` },
      { args: ["--no-session-persistence"], says: "--no-session-persistence" },
      { args: ["--resume-session-at", "x"], says: "--resume-session-at" },
    ],
    behind: { script: `${SKIP}=1 real "$@"` },
  },
  fastest: true,
  cannot: {
    o: "claude knows its provider by variables, not by arguments",
    q: "/clear stays in the folder",
  },
};

function own(home: string): string[] {
  const file = join(home, "own-settings.json");
  writeFileSync(file, JSON.stringify({ includeCoAuthoredBy: false }));
  return ["--name", "a title of my own", "--settings", file];
}

/** Hooks in every place that claude reads: the user's settings, those of a trusted project, and a file on the command line. */
function ownHooks(home: string, project: string): OwnHooks {
  const given = join(home, "given-settings.json");
  const places = [
    { file: join(home, ".claude", "settings.json"), what: "user", event: "UserPromptSubmit" },
    { file: join(project, ".claude", "settings.json"), what: "project", event: "UserPromptSubmit" },
    { file: given, what: "given", event: "Stop" },
  ].map((place) => ({ ...place, mark: join(home, `own-${place.what}-ran`) }));
  for (const { file, event, mark } of places) {
    writeJson(file, { hooks: { [event]: [{ hooks: [{ type: "command", command: `touch '${mark}'` }] }] } });
  }
  return {
    settings: places.map(({ file }) => file),
    marks: places.map(({ mark }) => mark),
    args: ["--settings", given],
  };
}

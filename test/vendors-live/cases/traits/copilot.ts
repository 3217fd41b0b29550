import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeJson } from "../../harness/files.ts";
import type { OwnHooks, Traits } from "../../traits.ts";

const MODEL = "made-up-model-7";
const SHELL = ["--allow-all-tools"];
// Of what it may do, only which tools there are is written down.
const SETTINGS = ["--model", MODEL, "--available-tools=view"];

export const copilot: Traits = {
  interactive: [],
  partner: "claude",
  toolName: (tool, server = "perdure") => `${server}-${tool}`,
  provenance: "assigned",
  tellsVersion: true,
  hidesArguments: false,
  database: null,
  config: {
    variable: "COPILOT_HOME",
    dir: (home) => join(home, ".copilot"),
    transcripts: "session-state/*/events.jsonl",
  },
  shell: {
    args: { headless: SHELL, tui: SHELL },
    call: (command) => `[[tool bash ${JSON.stringify({ command, description: "x" })}]]`,
    stays: "copilot starts every command in its own folder: a cd moves nothing",
  },
  failures: {
    refused: /^Authentication failed with provider at … \(HTTP 401\)\./,
    // It retries for a minute.
    limited: null,
  },
  asking: {
    args: [],
    call: '[[tool bash {"command":"touch it","description":"x"}]]',
    question: /Do you want to run this command\?/,
    yes: ["Enter"],
    tells: true,
    distrusts: {},
  },
  settings: { args: { headless: SETTINGS, tui: SETTINGS }, model: MODEL, permissions: /"availableToolCount":1,/g },
  ours: { headless: own, tui: own },
  ownHooks,
  ownServers: {
    add: (home, servers) => {
      const all = Object.entries(servers).map(([name, [command, ...args]]) => [
        name,
        { type: "local", command, args, tools: ["*"] },
      ]);
      writeJson(join(home, ".copilot", "mcp-config.json"), { mcpServers: Object.fromEntries(all) });
    },
    args: (servers) => servers.map((server) => `--allow-tool=${server}`),
    settings: [".copilot/mcp-config.json", ".copilot/settings.json", "api/.mcp.json", "api/.github/**"],
  },
  changing: {
    line: "/theme dim",
    steps: [],
    done: /Color mode set to: dim/,
    file: ".copilot/settings.json",
    saved: /"theme": "dim"/,
  },
  provider: null,
  ownFolder: null,
  renewsAtPrompt: null,
  behind: "/new",
  choosing: { newest: ["--continue"], resume: (id) => [`--resume=${id}`] },
  refusesSecond: null,
  splits: false,
  secondAsks: { question: /Session in use/, keys: ["Enter"] },
  slow: { inTerminal: "i j z bi bn", unhurried: "j z bi bn", quick: "a i w" },
  naming: null,
  rewind: {
    writes: "the same file",
    steps: [
      { keys: ["/rewind"], shows: /^❯ \/rewind$/m },
      { keys: ["Enter"], shows: /Rewind to a previous point/ },
      { keys: ["Enter"], shows: /Conversation only/ },
      // It offers the words that were taken back, between its two lines.
      { keys: ["Enter"], shows: /Rewound the conversation[^]*─\n❯ \w+\s*\n ?─/ },
      { keys: ["C-u"], shows: /─\n❯\s*\n ?─/ },
    ],
  },
  keepsUnanswered: true,
  unrecorded: null,
  cannot: {
    o: "copilot knows its provider by variables, not by arguments",
    q: "/clear stays in the folder",
  },
};

function own(home: string): string[] {
  const plugin = join(home, "own-plugin");
  mkdirSync(plugin, { recursive: true });
  writeFileSync(join(plugin, "plugin.json"), JSON.stringify({ name: "own", version: "1.0.0" }));
  return ["--name", "a title of my own", "--plugin-dir", plugin];
}

/** Hooks in the user's settings, and in a file of a trusted repository. */
function ownHooks(home: string, project: string): OwnHooks {
  const files = [join(home, ".copilot", "settings.json"), join(project, ".github", "hooks", "own.json")];
  const marks = ["user", "project"].map((what) => join(home, `own-${what}-ran`));
  const [user = "", repository = ""] = files;
  const hook = (mark = ""): object => ({ type: "command", bash: `touch '${mark}'` });
  writeJson(user, { hooks: { userPromptSubmitted: [hook(marks[0])] } });
  writeJson(repository, { version: 1, hooks: { agentStop: [hook(marks[1])] } });
  return { settings: files, marks };
}

import { join } from "node:path";
import { inSettings, writeJson } from "../../harness/files.ts";
import type { OwnHooks, Traits } from "../../traits.ts";

const MODEL = "made-up-model-7";
const SHELL = ["--approval-mode", "yolo"];
const SETTINGS = ["--model", MODEL, "--approval-mode", "plan"];

export const qwen: Traits = {
  interactive: [],
  partner: "claude",
  toolName: (tool, server = "perdure") => `mcp__${server}__${tool}`,
  provenance: "assigned",
  tellsVersion: true,
  hidesArguments: false,
  database: null,
  config: { variable: "QWEN_HOME", dir: (home) => home, transcripts: "projects/*/chats/*.jsonl" },
  shell: {
    args: { headless: SHELL, tui: SHELL },
    call: (command) => `[[tool run_shell_command ${JSON.stringify(lingering(command))}]]`,
    stays: "qwen starts every command in its own folder: a cd moves nothing",
  },
  failures: {
    refused: /^\[API Error: 401 made-up error 401\]$/,
    // It retries for minutes.
    limited: null,
  },
  asking: {
    args: ["--approval-mode", "default"],
    call: `[[tool run_shell_command ${JSON.stringify(lingering("touch it"))}]]`,
    question: /Allow execution of/,
    yes: ["Enter"],
    tells: true,
  },
  settings: {
    args: { headless: SETTINGS, tui: SETTINGS },
    model: MODEL,
    permissions: /Plan mode is active/g,
    told: true,
  },
  ours: { headless: () => [], tui: () => [] },
  ownServers: {
    add: (home, servers) => {
      const all = Object.entries(servers).map(([name, [command, ...args]]) => [
        name,
        { command, args, trust: true, alwaysLoadTools: true },
      ]);
      // The last two qwen would write itself.
      const own = { $version: 4, ui: { autoModeAcknowledged: true } };
      writeJson(join(home, ".qwen", "settings.json"), { mcpServers: Object.fromEntries(all), ...own });
    },
    args: () => [],
    settings: [".qwen/settings.json*", "api/.qwen/*", "api/.mcp.json"],
  },
  changing: {
    line: "/vim",
    steps: [],
    done: /Entered Vim mode/,
    file: ".qwen/settings.json",
    saved: /"vimMode": true/,
  },
  ownHooks,
  provider: (url) => ["--openai-base-url", `${url}/v1`, "--openai-api-key", "made-up-too"],
  ownFolder: null,
  renewsAtPrompt: null,
  choosing: { newest: ["--continue"], resume: (id) => ["--resume", id] },
  refusesSecond: null,
  splits: true,
  secondAsks: null,
  slow: { inTerminal: "z am bi bn", unhurried: "z am bi bn", quick: "a" },
  naming: null,
  keepsUnanswered: true,
  losesSilently: true,
  stopsRecording: /^Session recording stopped after a write failure\b/,
  unrecorded: {
    known: [
      { args: ["--chat-recording=false"], says: "--chat-recording" },
      { args: ["--chatRecording", "false"], says: "--chat-recording" },
      { args: ["--no-chat-recording"], says: "--no-chat-recording" },
      ...[".qwen/settings.json", "api/.qwen/settings.json"].map((name) => ({
        configure: (home: string) => inSettings(join(home, name), { general: { chatRecording: false } }),
        says: "general.chatRecording: false in /",
      })),
    ],
    behind: { script: 'real "$@" --chat-recording=false' },
  },
  cannot: {
    m: "perdure adds nothing to qwen's arguments but the conversation",
    q: "/clear stays in the folder",
  },
};

/** Hooks of the user's and a server of tools, which leaves its mark when it is started and is good for nothing else. */
function ownHooks(home: string): OwnHooks {
  const file = join(home, ".qwen", "settings.json");
  const events = ["UserPromptSubmit", "Stop"];
  const marks = [...events, "mcp"].map((what) => join(home, `own-${what}-ran`));
  const touch = (at: number): string => `touch '${marks[at]}'`;
  const hooks = Object.fromEntries(
    events.map((event, at) => [event, [{ hooks: [{ type: "command", command: touch(at) }] }]]),
  );
  const mcpServers = { own: { command: "/bin/sh", args: ["-c", touch(events.length)], trust: true } };
  // The last two qwen would write itself.
  writeJson(file, { hooks, mcpServers, $version: 4, ui: { autoModeAcknowledged: true } });
  return { settings: [file], marks };
}

/** On a busy machine qwen loses what a command says that is over at once, two times of twenty. */
function lingering(command: string): object {
  return { command: `${command}; sleep 0.3`, is_background: false, description: "x" };
}

import { createHash } from "node:crypto";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeText } from "../../harness/files.ts";
import type { OwnHooks, Traits } from "../../traits.ts";

const MODEL = "made-up-model-7";
const IN_MEMORY = 'experimental_thread_store={type="in_memory",id="x"}';
const OPEN = ["-s", "danger-full-access"];

export const codex: Traits = {
  interactive: [],
  partner: "claude",
  // The group, and the name in it.
  toolName: (tool, server = "perdure") => `mcp__${server}${tool}`,
  provenance: "minted",
  tellsVersion: true,
  hidesArguments: false,
  database: null,
  config: {
    variable: "CODEX_HOME",
    dir: (home) => join(home, ".codex"),
    transcripts: "sessions/*/*/*/*.jsonl",
  },
  shell: {
    args: { headless: OPEN, tui: [...OPEN, "-a", "never"] },
    call: (cmd) => `[[tool exec_command ${JSON.stringify({ cmd, login: false })}]]`,
    stays: "codex starts every command in its own folder: a cd moves nothing",
  },
  failures: {
    refused: /^■ unexpected status 401 Unauthorized: made-up error 401, .* \(codex login\)$/,
    limited: { directive: "429 insufficient_quota", says: /^■ Quota exceeded\./ },
    withoutLogin: { unset: "FAKE_KEY", says: /^■ Missing environment variable: `FAKE_KEY`\. \(set FAKE_KEY, / },
  },
  namedKey: "FAKE_KEY",
  asking: {
    args: ["-s", "read-only", "-a", "on-request"],
    call: '[[tool exec_command {"cmd":"touch it","login":false,"sandbox_permissions":"require_escalated","justification":"x"}]]',
    question: /Would you like to run the following command\?/,
    yes: ["y"],
    tells: false,
    // It asks where a folder has settings of its own, also a user who lets it write: but its app-server asks nobody then.
    distrusts: {
      configure: (home, folder) => {
        const settings = join(home, ".codex", "config.toml");
        writeText(settings, `sandbox_mode = "workspace-write"\n${readFileSync(settings, "utf8")}`);
        writeText(join(folder, ".codex", "config.toml"), 'model_reasoning_effort = "low"\n');
      },
    },
  },
  settings: {
    args: { headless: ["-m", MODEL, "-s", "read-only"], tui: ["-m", MODEL, "-s", "read-only", "-a", "never"] },
    model: MODEL,
    permissions: /"approval_policy":"never".*"sandbox_policy":\{"type":"read-only"\}/g,
  },
  ours: { headless: () => [], tui: () => ["--no-daemon"] },
  ownHooks,
  ownServers: {
    add: (home, servers) => {
      for (const [name, [command, ...args]] of Object.entries(servers)) {
        const table = `\n[mcp_servers.${name}]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`;
        appendFileSync(join(home, ".codex", "config.toml"), `${table}default_tools_approval_mode = "approve"\n`);
      }
      // What codex would write itself.
      appendFileSync(join(home, ".codex", "config.toml"), "\n[tui]\nscreen_reader_detection_done = true\n");
    },
    args: () => [],
    settings: [".codex/*.toml", "api/.codex/*"],
  },
  changing: {
    line: "/theme",
    steps: [{ sees: /catppuccin-mocha \(current\)/, press: ["Down", "Enter"] }],
    done: /^› Ask Codex to do anything/m,
    file: ".codex/config.toml",
    saved: /^theme = "coldark-cold"$/m,
  },
  provider: (url) => ["-c", 'model_provider="another"', "-c", `model_providers.another=${another(url)}`],
  ownFolder: { question: /Where should the new conversation run\?/, keys: ["2", "Enter"] },
  renewsAtPrompt: null,
  choosing: { newest: ["--last"], resume: (id) => ["resume", id] },
  refusesSecond: /active writer|open in another app/,
  splits: false,
  secondAsks: null,
  naming: null,
  rewind: {
    writes: "another file",
    steps: [
      { keys: ["Escape"], shows: /esc again to edit/ },
      { keys: ["Escape"], shows: /↵ rewind/ },
      { keys: ["Enter"], shows: /Conversation reverted/ },
      // It offers the words that were taken back.
      { keys: ["C-u"], shows: /^› Ask Codex/m },
    ],
  },
  keepsUnanswered: true,
  archiving: { put: (session) => ["archive", session], back: (session) => ["unarchive", session] },
  unrecorded: {
    known: [
      { args: ["--ephemeral"], says: "--ephemeral" },
      { args: ["-c", IN_MEMORY], says: "experimental_thread_store" },
    ],
    // With --ephemeral a conversation that exists is recorded all the same, and one in memory is not found.
    behind: null,
  },
  cannot: {
    "ad tui": "codex has no way that is not refused, by perdure or by itself",
    "m headless": "codex exec knows no --no-daemon; before exec it is the same as in a terminal",
  },
};

/**
 * A hook that the user has trusted, as codex writes it down, and the program that is told of the end of a turn. The last line
 * codex would write itself.
 */
function ownHooks(home: string): OwnHooks {
  const file = join(home, ".codex", "config.toml");
  const [hooked, notified] = [join(home, "own-hook-ran"), join(home, "own-notify-ran")];
  const handler = { async: false, command: `touch '${hooked}'`, timeout: 600, type: "command" };
  const hash = createHash("sha256").update(JSON.stringify({ event_name: "user_prompt_submit", hooks: [handler] }));
  appendFileSync(
    file,
    `
[[hooks.UserPromptSubmit]]
[[hooks.UserPromptSubmit.hooks]]
type = "command"
command = ${JSON.stringify(handler.command)}

[hooks.state.${JSON.stringify(`${file}:user_prompt_submit:0:0`)}]
trusted_hash = "sha256:${hash.digest("hex")}"

[tui]
screen_reader_detection_done = true
`,
  );
  // Above the first table.
  writeFileSync(file, `notify = ["touch", ${JSON.stringify(notified)}]\n${readFileSync(file, "utf8")}`);
  return { settings: [file], marks: [hooked, notified] };
}

function another(url: string): string {
  return `{name="another",base_url="${url}/v1",wire_api="responses",env_key="FAKE_KEY"}`;
}

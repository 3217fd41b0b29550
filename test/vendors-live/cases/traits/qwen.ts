import type { Traits } from "../../traits.ts";

const MODEL = "made-up-model-7";
const SHELL = ["--approval-mode", "yolo"];
const SETTINGS = ["--model", MODEL, "--approval-mode", "plan"];

export const qwen: Traits = {
  interactive: [],
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
  provider: (url) => ["--openai-base-url", `${url}/v1`, "--openai-api-key", "made-up-too"],
  ownFolder: null,
  renewsAtPrompt: null,
  refusesSecond: null,
  secondAsks: null,
  slow: { inTerminal: "z", unhurried: "z", quick: "a" },
  keepsUnanswered: true,
  cannot: {
    m: "perdure adds nothing to qwen's arguments but the conversation",
    q: "/clear stays in the folder",
  },
};

/** On a busy machine qwen loses what a command says that is over at once, two times of twenty. */
function lingering(command: string): object {
  return { command: `${command}; sleep 0.3`, is_background: false, description: "x" };
}

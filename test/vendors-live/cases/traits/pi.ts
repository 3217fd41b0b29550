import { join } from "node:path";
import type { Traits } from "../../traits.ts";

const MODEL = "made-up-model-7";
const SETTINGS = ["--model", MODEL, "--thinking", "high"];

export const pi: Traits = {
  interactive: [],
  provenance: "assigned",
  tellsVersion: false,
  hidesArguments: true,
  database: null,
  config: {
    variable: "PI_CODING_AGENT_DIR",
    dir: (home) => join(home, ".pi", "agent"),
    transcripts: "sessions/*/*.jsonl",
  },
  shell: {
    args: { headless: [], tui: [] },
    call: (command) => `[[tool bash ${JSON.stringify({ command })}]]`,
    stays: "pi starts every command in the conversation's folder: a cd moves nothing",
  },
  asking: null,
  // It asks for no permissions; of a turn it writes down how hard it thought.
  settings: {
    args: { headless: SETTINGS, tui: SETTINGS },
    model: MODEL,
    permissions: /"role":"assistant".*"thinkingLevel":"high"/g,
  },
  ours: { headless: () => TITLED, tui: () => TITLED },
  provider: () => ["--provider", "another"],
  ownFolder: null,
  renewsAtPrompt: null,
  refusesSecond: null,
  secondAsks: null,
  slow: { inTerminal: "ijz", unhurried: "jz", quick: "aiw" },
  keepsUnanswered: true,
  cannot: {
    q: "/new stays in the folder",
    u: "a pi that somebody else started leaves no trace: no lock, no open file, no words on its command line",
  },
};

const TITLED = ["--name", "a title of my own"];

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Traits } from "../../traits.ts";

const MODEL = "made-up-model-7";
const SHELL = ["--allow-all-tools"];
// Of what it may do, only which tools there are is written down.
const SETTINGS = ["--model", MODEL, "--available-tools=view"];

export const copilot: Traits = {
  interactive: [],
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
  provider: null,
  ownFolder: null,
  renewsAtPrompt: null,
  behind: "/new",
  refusesSecond: null,
  secondAsks: { question: /Session in use/, keys: ["Enter"] },
  slow: { inTerminal: "ijz", unhurried: "jz", quick: "aiw" },
  keepsUnanswered: true,
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

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Traits } from "../../traits.ts";

const MODEL = "made-up-model-7";
// Not in auto mode, whose safety check is on a server of the vendor's.
const SHELL = ["--permission-mode", "default", "--allowedTools=Bash"];
const SETTINGS = ["--model", MODEL, "--permission-mode", "plan"];

export const claude: Traits = {
  interactive: [],
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
  asking: {
    args: ["--permission-mode", "default"],
    call: '[[tool Bash {"command":"touch it"}]]',
    question: /Do you want to proceed\?/,
    yes: ["Enter"],
    tells: true,
    distrusts: {},
  },
  settings: { args: { headless: SETTINGS, tui: SETTINGS }, model: MODEL, permissions: /"permissionMode":"plan"/g },
  ours: { headless: own, tui: own },
  provider: null,
  ownFolder: null,
  renewsAtPrompt: null,
  refusesSecond: null,
  secondAsks: null,
  keepsUnanswered: true,
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

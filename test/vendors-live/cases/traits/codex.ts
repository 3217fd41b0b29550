import { join } from "node:path";
import type { Traits } from "../../traits.ts";

const MODEL = "made-up-model-7";
const OPEN = ["-s", "danger-full-access"];

export const codex: Traits = {
  interactive: [],
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
  asking: {
    args: ["-s", "read-only", "-a", "on-request"],
    call: '[[tool exec_command {"cmd":"touch it","login":false,"sandbox_permissions":"require_escalated","justification":"x"}]]',
    question: /Would you like to run the following command\?/,
    yes: ["y"],
    tells: false,
  },
  settings: {
    args: { headless: ["-m", MODEL, "-s", "read-only"], tui: ["-m", MODEL, "-s", "read-only", "-a", "never"] },
    model: MODEL,
    permissions: /"approval_policy":"never".*"sandbox_policy":\{"type":"read-only"\}/g,
  },
  ours: { headless: () => [], tui: () => ["--no-daemon"] },
  provider: (url) => ["-c", 'model_provider="another"', "-c", `model_providers.another=${another(url)}`],
  ownFolder: { question: /Where should the new conversation run\?/, keys: ["2", "Enter"] },
  renewsAtPrompt: null,
  refusesSecond: /active writer|open in another app/,
  secondAsks: null,
  keepsUnanswered: true,
  cannot: { "m headless": "codex exec knows no --no-daemon; before exec it is the same as in a terminal" },
};

function another(url: string): string {
  return `{name="another",base_url="${url}/v1",wire_api="responses",env_key="FAKE_KEY"}`;
}

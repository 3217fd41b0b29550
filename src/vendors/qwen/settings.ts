import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { HOOK_WAIT_MS } from "../../limits/index.ts";
import type { Environment } from "../../util/environment.ts";
import { shellQuote } from "../../util/shell-quote.ts";
import type { LaunchPlan } from "../launch-plan.ts";
import { hookCommand, hookScript } from "../shared/hook-script.ts";
import { SETTINGS_MARK } from "./program.ts";

// Qwen knows no flag for hooks. It reads an administrator's defaults from where a variable leads, and adds the user's own
// settings and hooks to them: nothing of the user's is hidden by that.

const DEFAULTS = "QWEN_CODE_SYSTEM_DEFAULTS_PATH";

const HOOKS = {
  SessionStart: "start",
  UserPromptSubmit: "prompt",
  Notification: "notification",
  Stop: "stop",
} as const;

/** Injects our hooks, unless the defaults are somebody else's already: then the registry alone tells. */
export function injected(runDir: string, env: Environment): Pick<LaunchPlan, "files" | "variables"> {
  if (isTaken(env)) return { files: [] };
  const settings = join(runDir, "settings.json");
  const hook = (word: string): object[] => [
    { hooks: [{ type: "command", command: hookCommand(runDir, word), timeout: HOOK_WAIT_MS }] },
  ];
  const hooks = Object.fromEntries(Object.entries(HOOKS).map(([event, word]) => [event, hook(word)]));
  return {
    files: [{ name: "settings.json", text: `${JSON.stringify({ hooks })}\n` }, hookScript(runDir, isNested(settings))],
    variables: { [DEFAULTS]: settings, [SETTINGS_MARK]: settings },
  };
}

/**
 * True for a nested agent: a process that a tool started has the first variable, one that another worker started lacks
 * the second.
 */
function isNested(settings: string): string {
  return `[ -n "$QWEN_CODE" ] || [ "$${SETTINGS_MARK}" != ${shellQuote(settings)} ]`;
}

function isTaken(env: Environment): boolean {
  const defaultsFile = env[DEFAULTS];
  if (defaultsFile && defaultsFile !== env[SETTINGS_MARK]) return true;
  const settings = env.QWEN_CODE_SYSTEM_SETTINGS_PATH || SYSTEM_SETTINGS;
  return existsSync(join(dirname(settings), "system-defaults.json"));
}

const SYSTEM_SETTINGS =
  process.platform === "darwin"
    ? "/Library/Application Support/QwenCode/settings.json"
    : "/etc/qwen-code/settings.json";

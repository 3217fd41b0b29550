import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { HOOK_WAIT_MS } from "../../limits/index.ts";
import type { Environment } from "../../util/environment.ts";
import { fieldsOf } from "../../util/fields.ts";
import { shellQuote } from "../../util/shell-quote.ts";
import type { LaunchPlan } from "../launch-plan.ts";
import { hasOption, type ArgumentTable } from "../shared/arguments.ts";
import { hookCommand, hookScript } from "../shared/hook-script.ts";
import { readSettings } from "../shared/jsonc.ts";
import type { RecordingContext, RecordingOff } from "../shared/recording.ts";
import { SETTINGS_MARK } from "./program.ts";

// Qwen knows no flag for hooks. It reads an administrator's defaults from where a variable leads, and adds the user's own
// settings and hooks to them: nothing of the user's is hidden by that.

const DEFAULTS = "QWEN_CODE_SYSTEM_DEFAULTS_PATH";

/** The file of the run to which the variable leads. */
export const DEFAULTS_FILE = "settings.json";

const HOOKS = {
  SessionStart: "start",
  UserPromptSubmit: "prompt",
  PostToolUse: "tool",
  Notification: "notification",
  Stop: "stop",
  StopFailure: "failed",
} as const;

/** Injects our hooks and settings, unless the defaults are somebody else's already: then the registry alone tells. */
export function injected(
  runDir: string,
  env: Environment,
  defaults: Readonly<Record<string, unknown>> = {},
): Pick<LaunchPlan, "files" | "variables"> {
  if (isTaken(env)) return { files: [] };
  const settings = join(runDir, DEFAULTS_FILE);
  const hook = (word: string): object[] => [
    { hooks: [{ type: "command", command: hookCommand(runDir, word), timeout: HOOK_WAIT_MS }] },
  ];
  const hooks = Object.fromEntries(Object.entries(HOOKS).map(([event, word]) => [event, hook(word)]));
  return {
    files: [
      { name: DEFAULTS_FILE, text: `${JSON.stringify({ ...defaults, hooks })}\n` },
      hookScript(runDir, isNested(settings)),
    ],
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
  return defaultsFile(env) !== null || existsSync(join(dirname(systemSettings(env)), "system-defaults.json"));
}

/** Returns the file of defaults that a variable of somebody else leads to; null without one. */
function defaultsFile(env: Environment): string | null {
  const file = env[DEFAULTS];
  return file && file !== env[SETTINGS_MARK] ? file : null;
}

/** Returns the settings of the machine's administrator. */
function systemSettings(env: Environment): string {
  return env.QWEN_CODE_SYSTEM_SETTINGS_PATH || SYSTEM_SETTINGS;
}

/** Returns the settings that turn qwen's transcripts off; the option that turns them on is stronger, and `--bare` reads none. */
export function qwenUnrecordedBy(context: RecordingContext, table: ArgumentTable): RecordingOff | null {
  const { args } = context;
  if (hasOption(args, table, "--bare", "--chat-recording")) return null;
  const found = settingsFiles(context)
    .map((file) => ({ value: fieldsOf(readSettings(file).general).chatRecording, file }))
    .findLast(({ value }) => typeof value === "boolean");
  return found?.value === false ? { setting: "general.chatRecording: false", place: found.file } : null;
}

/** Tells whether settings let a program of the user's talk to qwen. */
export function qwenRemoteBy(context: SettingsContext): boolean {
  return settingsFiles(context).some((file) => readSettings(file).dualOutput !== undefined);
}

type SettingsContext = Pick<RecordingContext, "cwd" | "configDir" | "environment">;

/** Returns the files of settings, from the weakest to the strongest. */
export function settingsFiles({ cwd, configDir, environment }: SettingsContext): string[] {
  const system = systemSettings(environment);
  return [
    defaultsFile(environment) ?? join(dirname(system), "system-defaults.json"),
    join(configDir, "settings.json"),
    join(cwd, ".qwen", "settings.json"),
    system,
  ];
}

const SYSTEM_SETTINGS =
  process.platform === "darwin"
    ? "/Library/Application Support/QwenCode/settings.json"
    : "/etc/qwen-code/settings.json";

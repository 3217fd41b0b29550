import { createHash } from "node:crypto";
import type { LaunchFile } from "../launch-plan.ts";
import { hookCommand, hookScript } from "../shared/hook-script.ts";
import { inline } from "./settings.ts";

/** The hooks of a launch: settings for the command line, and what they run. */
export interface LaunchHooks {
  args: string[];
  files: LaunchFile[];
}

/**
 * Makes the hooks of one launch. Codex runs a hook only if it is trusted: ours are, for this launch, each by the hash of exactly this
 * hook. A hook of the user's or of a repository's that nobody has trusted stays off.
 */
export function launchHooks(runDir: string): LaunchHooks {
  const hooks = EVENTS.map(([event, word]) => ({ event, handler: handlerOf(event, hookCommand(runDir, word)) }));
  const settings = hooks.map(({ event, handler }) => `hooks.${event}=${inline([{ hooks: [handler] }])}`);
  const trusted = hooks.map(({ event, handler }) => [stateKey(event), { trusted_hash: trustHash(event, handler) }]);
  const state = `hooks.state=${inline(Object.fromEntries(trusted))}`;
  return { args: [...settings, state].flatMap((setting) => ["-c", setting]), files: [hookScript(runDir)] };
}

/** Codex's events, and the words with which the hook script is called at them. The first is only told at the first prompt. */
const EVENTS = [
  ["SessionStart", "start"],
  ["UserPromptSubmit", "prompt"],
  ["PermissionRequest", "permission"],
  ["PostToolUse", "tool"],
  ["Stop", "stop"],
] as const;

const TIMEOUT_SECONDS = 20;

/**
 * Codex would put a context of more than 2,500 tokens into a file, and only say where. What stops a turn is no context, and a hook that
 * hears of a permission has none to give.
 */
function spillOf(event: string): { additionalContextLimit?: number } {
  return event === "Stop" || event === "PermissionRequest" ? {} : { additionalContextLimit: 0 };
}

// In the order of their names, as the hash wants them.
function handlerOf(event: string, command: string): object {
  return { ...spillOf(event), async: false, command, timeout: TIMEOUT_SECONDS, type: "command" };
}

/** The key of a hook of the command line: its event, the group, and the place in the group. */
function stateKey(event: string): string {
  return `/<session-flags>/config.toml:${snakeCase(event)}:0:0`;
}

function trustHash(event: string, handler: object): string {
  const text = JSON.stringify({ event_name: snakeCase(event), hooks: [handler] });
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

function snakeCase(event: string): string {
  return event.replaceAll(/(?<=[a-z])[A-Z]/g, "_$&").toLowerCase();
}

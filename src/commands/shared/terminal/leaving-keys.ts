import { spawnSync } from "node:child_process";
import { TMUX_ANSWER_MS } from "../../../limits/index.ts";
import { keyText, WINDOW_OPTION } from "../../../runtime/tmux/attach.ts";
import { statePaths } from "../../../state/paths.ts";

/**
 * Returns the keys that leave a worker's terminal, with the prefix that our tmux has now: twice inside a tmux of the caller's own with
 * the same one, which takes the first. Null inside our own tmux, where to go to a worker leaves nothing.
 */
export function leavingKeys(): string | null {
  return (known ??= { keys: findKeys() }).keys;
}

/** Kept, because the board tells it once a second. */
let known: { keys: string | null } | null = null;

function findKeys(): string | null {
  const { tmux: socket } = statePaths(process.env);
  const outer = process.env.TMUX?.replace(/,\d+,\d+$/, "");
  if (outer === socket) return null;
  const own = ownPrefixKey("tmux", socket);
  const isTaken = outer !== undefined && outer !== "" && (prefixKey("tmux") ?? own) === own;
  return `${isTaken ? `${keyText(own)} ` : ""}${keyText(own)} d`;
}

/** Returns the prefix key of our own tmux server; tmux's own where there is no server yet. */
export function ownPrefixKey(tmux: string, socket: string): string {
  return prefixKey(tmux, ["-N", "-S", socket]) ?? "C-b";
}

/** Returns the prefix key of the tmux around the caller, or of the one that the options name; null if it does not answer. */
export function prefixKey(tmux: string, options: readonly string[] = []): string | null {
  return answerOf(tmux, [...options, "show-options", "-gv", "prefix"]);
}

/** Returns the folder in which a session of our server opens windows. */
export function sessionFolder(tmux: string, socket: string, session: string): string | null {
  return answerOf(tmux, ["-N", "-S", socket, "display-message", "-p", "-t", `=${session}:`, "#{session_path}"]);
}

/** Returns the window of the tmux around the caller that was opened for a worker and still shows it; null for none. */
export function windowOpenedFor(tmux: string, address: string): string | null {
  const rows = answerOf(tmux, ["list-windows", "-F", `#{window_id} #{pane_dead} #{${WINDOW_OPTION}}`]) ?? "";
  return (
    rows
      .split("\n")
      .find((row) => row.endsWith(` 0 ${address}`))
      ?.split(" ")[0] ?? null
  );
}

/** Whether a terminal is attached to the session of the caller's own tmux, so that a popup can be drawn there. */
export function hasTerminalAround(tmux: string): boolean {
  return answerOf(tmux, ["list-clients", "-F", "#{client_name}"]) !== null;
}

function answerOf(tmux: string, words: readonly string[]): string | null {
  const { status, stdout } = spawnSync(tmux, words, { encoding: "utf8", timeout: TMUX_ANSWER_MS });
  return status === 0 ? stdout.trim() || null : null;
}

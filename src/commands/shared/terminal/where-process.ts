import { spawnSync } from "node:child_process";
import { TMUX_ANSWER_MS } from "../../../limits/index.ts";
import { processTable } from "../../../runtime/process/index.ts";

/** Says where a person finds a process: the window and pane of the tmux it was started in, else its terminal, else its pid alone. */
export function whereProcess(pid: number): string {
  const place = tmuxPlace(pid) ?? terminalOf(pid);
  return place === null ? `pid ${pid}` : `${place} (pid ${pid})`;
}

/** Asks the tmux that the process was started in; it may have moved the pane since, or be gone. */
function tmuxPlace(pid: number): string | null {
  const table = processTable();
  const socket = table.variable(pid, "TMUX")?.replace(/,\d+,\d+$/, "");
  const pane = table.variable(pid, "TMUX_PANE");
  if (!socket || !pane || !/^%\d+$/.test(pane)) return null;
  const format = "#{session_name}:#{window_index}.#{pane_index}";
  const { status, stdout } = spawnSync("tmux", ["-N", "-S", socket, "display-message", "-p", "-t", pane, format], {
    encoding: "utf8",
    timeout: TMUX_ANSWER_MS,
  });
  const place = stdout?.trim();
  return status === 0 && place && !place.startsWith(":") ? `tmux ${place}` : null;
}

function terminalOf(pid: number): string | null {
  return (
    processTable()
      .openFiles(pid)
      .find((file) => /^\/dev\/(?:pts\/\d|tty[^/]*\d)/.test(file)) ?? null
  );
}

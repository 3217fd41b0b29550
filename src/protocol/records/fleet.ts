import type { LaunchOrder } from "./worker.ts";

// What bringing a fleet up and down answers.

export interface UpItem {
  address: string;
  name: string;
  /** "running": it was, and nothing was changed. "refused": with the reason and what to do. */
  outcome: "started" | "running" | "refused";
  run: string | null;
  generation: number;
  session: LaunchOrder["session"];
  reason: string | null;
  hint: string | null;
}

export interface UpResult {
  started: number;
  running: number;
  refused: number;
  /** The saved session that follows the fleet from now on. */
  session: string | null;
}

export interface DownItem {
  address: string;
  name: string;
  outcome: "stopped" | "killed" | "stopped already" | "failed";
  run: string | null;
  /** Why it could not be stopped. */
  reason: string | null;
}

/** Where a worker's terminal is. */
export interface PaneRecord {
  address: string;
  socket: string;
  tmux: string;
  /** In tmux's own words: a session's name, a window's and a pane's id. */
  session: string;
  window: string;
  pane: string;
}

export interface ScreenRecord {
  address: string;
  text: string;
  /** Of a pane that is there; else what was kept when its run ended. */
  live: boolean;
}

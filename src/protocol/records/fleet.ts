import type { Hinted } from "../hint.ts";
import type { LaunchOrder } from "./launch.ts";

// A fleet that is brought up or down, its panes, and its saved sessions.

export interface UpItem extends Hinted {
  address: string;
  name: string;
  /** "running": it was running already. "asleep": mail will start it. "refused": `reason` and `hint` say why, and what to do. */
  outcome: "started" | "running" | "asleep" | "refused";
  run: string | null;
  generation: number;
  session: LaunchOrder["session"];
  reason: string | null;
}

export interface UpResult {
  started: number;
  running: number;
  /** Workers of turns, which mail will start; a daemon of an earlier version knows none. */
  asleep?: number;
  refused: number;
  /** The saved session that follows the fleet from now on. */
  session: string | null;
}

export interface DownItem extends Partial<Hinted> {
  address: string;
  name: string;
  outcome: "stopped" | "killed" | "already stopped" | "failed";
  run: string | null;
  /** The reason why it could not be stopped. */
  reason: string | null;
}

/** The place of a worker's terminal in our tmux server. */
export interface PaneRecord {
  address: string;
  socket: string;
  tmux: string;
  /** The name of the tmux session; `window` and `pane` are tmux's own ids. */
  session: string;
  window: string;
  pane: string;
  /** The mistake in the user's own file of tmux commands; left out where there is none. */
  problem?: string;
}

export interface ScreenRecord {
  address: string;
  text: string;
  /** True for a pane that is there, or a turn that goes on; else the text was saved when the run ended. */
  live: boolean;
  /** The run whose turn the text shows; it only grows. */
  turn?: string;
}

/** A saved session: one name for a whole fleet, with the conversation each worker is in. */
export interface SavedRecord {
  name: string;
  project: string;
  /** The active one follows its workers from conversation to conversation. */
  active: boolean;
  createdAt: string;
  updatedAt: string;
  workers: SavedWorker[];
}

interface SavedWorker {
  name: string;
  address: string;
  vendor: string;
  sessionId: string;
  launchCwd: string;
  configDir: string;
}

import type { Proved, Provenance, SessionRecord } from "./conversation.ts";
import type { RunRecord, RunSummary } from "./run.ts";

// A worker, as `ls` and `show` answer and as `--json` prints it: others build on these fields.

export type WorkerState =
  | "stopped"
  | "starting"
  | "idle"
  | "busy"
  | "blocked"
  | "backing-off"
  | "crash-looping"
  | "on-hold"
  | "paused"
  | "displaced"
  | "unresumable";

export interface WorkerSummary {
  address: string;
  project: string;
  name: string;
  vendor: string | null;
  /** The reason why its conversation was never proved with the vendor's real program; null when it was. */
  unproved: string | null;
  mode: "foreground" | "client" | "tmux";
  state: WorkerState;
  generation: number;
  run: RunSummary | null;
  session: SessionSummary | null;
  unread: number;
  restarts: number;
  attention: string | null;
  /** How the last run ended; null while one runs and before the first. */
  lastEnd: { reason: string; exit: number | null; at: string } | null;
}

interface SessionSummary {
  id: string;
  provenance: Provenance;
  /** The proof of the last run that was in it. */
  proved: Proved;
}

export interface WorkerDetail extends WorkerSummary {
  createdAt: string;
  command: string[] | null;
  cwd: string | null;
  /** The names of the recorded variables; their values are kept for later starts and never printed. */
  environment: string[];
  formerNames: string[];
  /** The conversation the next start resumes. */
  conversation: SessionRecord | null;
  processes: { pid: number; command: string }[];
  lastRun: RunRecord | null;
}

import type { Hint } from "../hint.ts";
import type { Proved, Provenance, SessionRecord } from "./conversation.ts";
import type { EnvironmentScope } from "./environment.ts";
import type { RunRecord, RunSummary, TurnRecord } from "./run.ts";

// A worker, as `ls` and `show` answer and as `--json` prints it: others build on these fields.

export type WorkerState =
  | "stopped"
  | "starting"
  /** The worker lives, and nobody can tell whether it works; `idle`, `busy` and `blocked` are known. */
  | "running"
  /** The worker has no process: its mail starts one for each turn. `turning`: it is in such a turn. */
  | "asleep"
  | "turning"
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
  /** The id that no worker of another machine has either; it stays when the worker is renamed. */
  uid: string;
  project: string;
  /** The id of the project, which stays when its slug or its folder changes. */
  projectUid: string;
  name: string;
  vendor: string | null;
  /** The words of the fleet file about it; left out where it has none. */
  about?: string;
  /** The reason why its conversation was never proved with the vendor's real program; null when it was. */
  unproved: string | null;
  mode: "foreground" | "client" | "tmux" | "turn";
  state: WorkerState;
  generation: number;
  run: RunSummary | null;
  session: SessionSummary | null;
  unread: number;
  /** Questions to it that were read, and that it has not answered; a daemon of an earlier version does not say. */
  unanswered?: number;
  restarts: number;
  attention: string | null;
  /** The way out of what `attention` tells, where there is one; left out where there is none. */
  next?: Hint;
  /** The number of its window in perdure's tmux; left out while it is in none, and by a daemon of an earlier version. */
  window?: number;
  /** The folder it works in; left out where none is known yet, and by a daemon of an earlier version. */
  folder?: string;
  /** The branch that is checked out there, as whoever lists it sees it; left out outside a repository. */
  branch?: string;
  /** The beginning of what was said last in its conversation, without what looks like a secret; only the operator is told. */
  words?: string;
  /** How the last run ended; null while one runs and before the first. */
  lastEnd: { reason: string; exit: number | null; at: string } | null;
  /** The last turn that mail began, or the present one; left out for a worker without any. */
  lastTurn?: TurnRecord;
}

interface SessionSummary {
  id: string;
  provenance: Provenance;
  /** The proof of the last run that was in it. */
  proved: Proved;
  /** The name that its user gave it inside the vendor's program, where that tells; a daemon of an earlier version does not say. */
  name?: string | null;
}

export interface WorkerDetail extends WorkerSummary {
  createdAt: string;
  command: string[] | null;
  cwd: string | null;
  /** The names of the recorded variables; their values are kept for later starts and never printed. */
  environment: string[];
  /** How much of somebody's environment they are; absent if nothing is recorded, and from a daemon of an earlier version. */
  environmentScope?: EnvironmentScope;
  /** An environment was recorded and is gone: the store is a restored backup, or its file was removed. */
  environmentLost?: true;
  formerNames: string[];
  /** The conversation the next start resumes. */
  conversation: SessionRecord | null;
  processes: { pid: number; command: string }[];
  lastRun: RunRecord | null;
}

import type { Proved, SessionRecord } from "./conversation.ts";

// The runs of a worker, as `history` and `takeover` answer and as `--json` prints them: others build on these fields.

export interface RunSummary {
  id: string;
  pid: number;
  startedAt: string;
}

/** One turn without a terminal, begun by mail. */
export interface TurnRecord {
  /** The message that it answers; null where nobody waits for an answer. */
  ask: string | null;
  startedAt: string;
  /** How long it took, or has taken by now. */
  ms: number;
  /** `returned`: the mail waits again. Null while the turn goes on. */
  outcome: "answered" | "done" | "failed" | "returned" | "stopped" | null;
  reason: string | null;
}

export interface RunRecord {
  id: string;
  generation: number;
  startedAt: string;
  endedAt: string | null;
  /** The program's exit code; null while it runs and when nobody could tell. */
  exit: number | null;
  reason: string | null;
  /** The conversation the run was in last. */
  sessionId: string | null;
  sessions: RunSession[];
  pid: number;
  displacedBy: string | null;
  /** The turn that the run is, if it is one without a terminal. */
  turn?: TurnRecord;
}

/** A conversation a run was in. */
interface RunSession {
  id: string;
  began: "new" | "resume" | "rotation";
  at: string;
  proved: Proved;
  evidence: string | null;
  provedAt: string | null;
}

export interface History {
  address: string;
  runs: RunRecord[];
  sessions: SessionRecord[];
}

export interface TakeoverResult {
  address: string;
  /** The run that was stopped; null when nobody held the name. */
  displaced: string | null;
  generation: number;
  killed: boolean;
  /** Where a run goes on, fenced, that could not be stopped because its pid namespace cannot be seen; null otherwise. */
  leftIn: string | null;
}

/** The run that a context file belongs to. */
export interface AnchorOwner {
  file: string;
  run: string;
  worker: string;
  generation: number;
  live: boolean;
  endedAt: string | null;
  reason: string | null;
}

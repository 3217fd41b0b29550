import type { Db } from "./db.ts";
import { parseColumn } from "./failure.ts";

/**
 * `answered`: the answer was sent. `done`: nobody waited for one. `failed`: no answer can be expected. `returned`: the mail waits again.
 * `stopped`: somebody has stopped the turn.
 */
export type TurnEnd = "answered" | "done" | "failed" | "returned" | "stopped";

/** One turn without a terminal: the run that makes it, what it was begun for, and what came of it. */
export interface Turn {
  readonly runId: string;
  readonly workerId: number;
  readonly projectId: number;
  /** The message that the turn answers; null where nobody waits for an answer. */
  readonly ask: string | null;
  /** The ids of all messages that the turn was told. */
  readonly messages: readonly string[];
  /** The vendor's id of the conversation that the turn was begun in. */
  readonly session: string;
  /** The length of the transcript when the program started; null where that is not known. */
  readonly bytesBefore: number | null;
  readonly startedMs: number;
  readonly endedMs: number | null;
  readonly outcome: TurnEnd | null;
  readonly reason: string | null;
}

type TurnColumns = Omit<Turn, "messages"> & { messages: string };

const COLUMNS = `run_id AS runId, worker_id AS workerId, project_id AS projectId, ask, messages, session, bytes_before AS bytesBefore,
  started_ms AS startedMs, ended_ms AS endedMs, outcome, reason`;

export function insertTurn(db: Db, turn: Omit<Turn, "endedMs" | "outcome" | "reason">): void {
  db.run(
    `INSERT INTO turns (run_id, worker_id, project_id, ask, messages, session, bytes_before, started_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    turn.runId,
    turn.workerId,
    turn.projectId,
    turn.ask,
    JSON.stringify(turn.messages),
    turn.session,
    turn.bytesBefore,
    turn.startedMs,
  );
}

export function turnOfRun(db: Db, runId: string): Turn | null {
  return turnOf(db.one(`SELECT ${COLUMNS} FROM turns WHERE run_id = ?`, runId));
}

/** Returns the last turn of a worker, under way or ended. */
export function lastTurnOf(db: Db, workerId: number): Turn | null {
  return turnOf(
    db.one(`SELECT ${COLUMNS} FROM turns WHERE worker_id = ? ORDER BY started_ms DESC, run_id DESC LIMIT 1`, workerId),
  );
}

function turnOf(columns: TurnColumns | null): Turn | null {
  return columns && { ...columns, messages: parseColumn<string[]>("turns.messages", columns.messages) };
}

/** Records, once, what came of a turn; returns false if that was recorded before. */
export function endTurn(
  db: Db,
  runId: string,
  { nowMs, outcome, reason }: { nowMs: number; outcome: TurnEnd; reason: string | null },
): boolean {
  const changes = db.run(
    "UPDATE turns SET ended_ms = ?2, outcome = ?3, reason = ?4 WHERE run_id = ?1 AND outcome IS NULL",
    runId,
    nowMs,
    outcome,
    reason,
  );
  return changes === 1;
}

export function countTurnsOfWorker(db: Db, workerId: number, fromMs: number): number {
  return countOf(db, "SELECT count(*) AS count FROM turns WHERE worker_id = ? AND started_ms >= ?", workerId, fromMs);
}

export function countTurnsOfProject(db: Db, projectId: number, fromMs: number): number {
  return countOf(db, "SELECT count(*) AS count FROM turns WHERE project_id = ? AND started_ms >= ?", projectId, fromMs);
}

function countOf(db: Db, sql: string, id: number, fromMs: number): number {
  return db.one<{ count: number }>(sql, id, fromMs)?.count ?? 0;
}

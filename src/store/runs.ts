import type { Db } from "./db.ts";

/** A row is shared by all who ask for it, and frozen. */
export type RunRow = Readonly<RunColumns>;

interface RunColumns {
  id: string;
  worker_id: number;
  generation: number;
  kind: "run" | "client";
  token_hash: string;
  pid: number;
  process_started: string;
  boot_id: string;
  started_ms: number;
  ended_ms: number | null;
  exit: number | null;
  reason: string | null;
  displaced_ms: number | null;
  displaced_by: string | null;
  pane: string | null;
  stopped_by: string | null;
}

export type NewRun = Pick<
  RunRow,
  | "id"
  | "worker_id"
  | "generation"
  | "kind"
  | "token_hash"
  | "pid"
  | "process_started"
  | "boot_id"
  | "started_ms"
  | "pane"
>;

/** Of a run whose pane is yet to be made. */
export const PENDING_PANE = "?";

export function insertRun(db: Db, run: NewRun): void {
  db.run(
    `INSERT INTO runs (id, worker_id, generation, kind, token_hash, pid, process_started, boot_id, started_ms, pane)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    run.id,
    run.worker_id,
    run.generation,
    run.kind,
    run.token_hash,
    run.pid,
    run.process_started,
    run.boot_id,
    run.started_ms,
    run.pane,
  );
}

export function runById(db: Db, id: string): RunRow | null {
  return db.cachedOne("SELECT * FROM runs WHERE id = ?", id);
}

export function runByToken(db: Db, tokenHash: string): RunRow | null {
  return db.one("SELECT * FROM runs WHERE token_hash = ?", tokenHash);
}

export function aliveRuns(db: Db): RunRow[] {
  return db.all("SELECT * FROM runs WHERE ended_ms IS NULL ORDER BY id");
}

export function runsOfWorker(db: Db, workerId: number, limit: number): RunRow[] {
  return db.all("SELECT * FROM runs WHERE worker_id = ? ORDER BY generation DESC LIMIT ?", workerId, limit);
}

/** All whose id begins so: a range of the key, which knows only ASCII. */
export function runsByIdStart(db: Db, start: string): RunRow[] {
  return db.all("SELECT * FROM runs WHERE id >= ? AND id < ?", start, `${start}\u{10ffff}`);
}

export function markDisplaced(db: Db, id: string, nowMs: number, by: string): void {
  db.run("UPDATE runs SET displaced_ms = ?, displaced_by = ? WHERE id = ?", nowMs, by, id);
}

/** Its wrapper was started in a pane: from now on that is the process that holds the name. */
export function setHolder(db: Db, id: string, holder: { pid: number; startedAt: string }, pane: string): void {
  db.run("UPDATE runs SET pid = ?, process_started = ?, pane = ? WHERE id = ?", holder.pid, holder.startedAt, pane, id);
}

export function markStopped(db: Db, id: string, by: string): void {
  db.run("UPDATE runs SET stopped_by = ? WHERE id = ? AND ended_ms IS NULL", by, id);
}

/** Returns false if it had ended before: an end is recorded once. */
export function endRun(db: Db, id: string, nowMs: number, exit: number | null, reason: string): boolean {
  return (
    db.run(
      "UPDATE runs SET ended_ms = ?, exit = ?, reason = ? WHERE id = ? AND ended_ms IS NULL",
      nowMs,
      exit,
      reason,
      id,
    ) === 1
  );
}

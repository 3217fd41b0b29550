import { asRead, type Db } from "./db.ts";
import type { Worker } from "./workers.ts";

export interface Run {
  readonly id: string;
  readonly workerId: number;
  readonly generation: number;
  readonly kind: "run" | "client";
  readonly tokenHash: string;
  readonly pid: number;
  readonly processStarted: string;
  readonly bootId: string;
  /** The pid namespace of the holder; null if an older perdure claimed, so that it is not known. */
  readonly namespace: string | null;
  /** The name of the machine or container that the holder is in; null if an older perdure claimed. */
  readonly host: string | null;
  readonly startedMs: number;
  readonly endedMs: number | null;
  readonly exit: number | null;
  readonly reason: string | null;
  readonly displacedMs: number | null;
  readonly displacedBy: string | null;
  readonly pane: string | null;
  readonly stoppedBy: string | null;
  /** 1 for a run that is one turn without a terminal, begun by mail. */
  readonly turn: 0 | 1;
}

export type NewRun = Omit<Run, "endedMs" | "exit" | "reason" | "displacedMs" | "displacedBy" | "stoppedBy">;

const COLUMNS = `id, worker_id AS workerId, generation, kind, token_hash AS tokenHash, pid, process_started AS processStarted,
  boot_id AS bootId, pid_namespace AS namespace, host, started_ms AS startedMs, ended_ms AS endedMs, exit, reason, displaced_ms AS displacedMs,
  displaced_by AS displacedBy, pane, stopped_by AS stoppedBy, turn`;

/** The `pane` of a run whose pane does not exist yet. */
export const PENDING_PANE = "?";

export function insertRun(db: Db, run: NewRun): void {
  db.run(
    `INSERT INTO runs (id, worker_id, generation, kind, token_hash, pid, process_started, boot_id, pid_namespace, host,
       started_ms, pane, turn)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    run.id,
    run.workerId,
    run.generation,
    run.kind,
    run.tokenHash,
    run.pid,
    run.processStarted,
    run.bootId,
    run.namespace,
    run.host,
    run.startedMs,
    run.pane,
    run.turn,
  );
}

/** Put together once, because every call of a run asks for it. */
const BY_ID = `SELECT ${COLUMNS} FROM runs WHERE id = ?`;

export function runById(db: Db, id: string): Run | null {
  return db.cachedOne(asRead<Run>, BY_ID, id);
}

/** Returns the run that holds the worker's name, alive or not; null while the name is free. */
export function holderOf(db: Db, worker: Pick<Worker, "holderRun"> | null): Run | null {
  return worker === null || worker.holderRun === null ? null : runById(db, worker.holderRun);
}

export function runByToken(db: Db, tokenHash: string): Run | null {
  return db.one(`SELECT ${COLUMNS} FROM runs WHERE token_hash = ?`, tokenHash);
}

export function unendedRuns(db: Db): Run[] {
  return db.all(`SELECT ${COLUMNS} FROM runs WHERE ended_ms IS NULL ORDER BY id`);
}

export function runsOfWorker(db: Db, workerId: number, limit: number): Run[] {
  return db.all(`SELECT ${COLUMNS} FROM runs WHERE worker_id = ? ORDER BY generation DESC LIMIT ?`, workerId, limit);
}

/** Returns the runs whose id has this prefix, by a range of the key: run ids are ASCII. */
export function runsByIdPrefix(db: Db, prefix: string): Run[] {
  return db.all(`SELECT ${COLUMNS} FROM runs WHERE id >= ? AND id < ?`, prefix, `${prefix}\u{10ffff}`);
}

export function markDisplaced(db: Db, id: string, nowMs: number, by: string): void {
  db.run("UPDATE runs SET displaced_ms = ?, displaced_by = ? WHERE id = ?", nowMs, by, id);
}

/** Records the wrapper that the daemon has started, in a pane or without one, as the process that holds the name. */
export function setHolder(db: Db, id: string, holder: { pid: number; startedAt: string }, pane: string | null): void {
  db.run("UPDATE runs SET pid = ?, process_started = ?, pane = ? WHERE id = ?", holder.pid, holder.startedAt, pane, id);
}

export function markStopped(db: Db, id: string, by: string): void {
  db.run("UPDATE runs SET stopped_by = ? WHERE id = ? AND ended_ms IS NULL", by, id);
}

/** Records the end of a run, once; returns false if the run had ended before. */
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

import type { Db } from "./db.ts";

/** Records a turn that mail has begun by itself, and forgets those before the time from which on they count. */
export function insertWake(db: Db, workerId: number, atMs: number, countFromMs: number): void {
  db.run("DELETE FROM wakes WHERE worker_id = ? AND at_ms < ?", workerId, countFromMs);
  db.run("INSERT INTO wakes (worker_id, at_ms) VALUES (?, ?)", workerId, atMs);
}

export function countWakes(db: Db, workerId: number, fromMs: number): number {
  const row = db.one<{ count: number }>(
    "SELECT count(*) AS count FROM wakes WHERE worker_id = ? AND at_ms >= ?",
    workerId,
    fromMs,
  );
  return row?.count ?? 0;
}

/** Returns the hops of the mail that a run acts on. */
export function hopsOfRun(db: Db, runId: string): number {
  return db.one<{ hops: number }>("SELECT hops FROM runs WHERE id = ?", runId)?.hops ?? 0;
}

export function setHopsOfRun(db: Db, runId: string, hops: number): void {
  db.run("UPDATE runs SET hops = ? WHERE id = ? AND hops <> ?", hops, runId, hops);
}

/** Returns the most hops that any run of a project acts on now. */
export function highestHops(db: Db, projectId: number): number {
  const row = db.one<{ hops: number | null }>(
    `SELECT max(runs.hops) AS hops FROM runs JOIN workers ON workers.holder_run = runs.id
     WHERE workers.project_id = ? AND runs.ended_ms IS NULL`,
    projectId,
  );
  return row?.hops ?? 0;
}

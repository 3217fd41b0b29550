import type { Lease } from "../core/lease.ts";
import type { Db } from "./db.ts";

/** A row is shared by all who ask for it, and frozen. */
export type WorkerRow = Readonly<WorkerColumns>;

interface WorkerColumns {
  id: number;
  project_id: number;
  name: string;
  name_key: string;
  created_ms: number;
  retired_ms: number | null;
  lease_phase: Lease["phase"];
  generation: number;
  holder_run: string | null;
  command: string | null;
  cwd: string | null;
  environment: string;
  ephemeral: number;
  vendor: string | null;
  program_at: number | null;
  session_id: number | null;
  unresumable: string | null;
  fork_of: number | null;
  declared: string | null;
  supervisor_id: number | null;
  paused: number;
  desired: number;
  keeping: string | null;
  held: string | null;
  restarts: number;
}

export function workerByName(db: Db, projectId: number, nameKey: string): WorkerRow | null {
  return db.cachedOne(
    "SELECT * FROM workers WHERE project_id = ? AND name_key = ? AND retired_ms IS NULL",
    projectId,
    nameKey,
  );
}

export function workerById(db: Db, id: number): WorkerRow | null {
  return db.cachedOne("SELECT * FROM workers WHERE id = ?", id);
}

export function lastRetiredByName(db: Db, projectId: number, nameKey: string): WorkerRow | null {
  return db.one(
    "SELECT * FROM workers WHERE project_id = ? AND name_key = ? AND retired_ms IS NOT NULL ORDER BY retired_ms DESC LIMIT 1",
    projectId,
    nameKey,
  );
}

export function workersOfProject(db: Db, projectId: number): WorkerRow[] {
  return db.all("SELECT * FROM workers WHERE project_id = ? AND retired_ms IS NULL ORDER BY name_key", projectId);
}

export function countWorkers(db: Db, projectId: number): number {
  const row = db.one<{ count: number }>(
    "SELECT count(*) AS count FROM workers WHERE project_id = ? AND retired_ms IS NULL",
    projectId,
  );
  return row?.count ?? 0;
}

/** At least as many as any project has; without counting, because each new name asks. */
export function workersAtMost(db: Db): number {
  return db.one<{ last: number | null }>("SELECT max(id) AS last FROM workers")?.last ?? 0;
}

export function countWorkersEver(db: Db, projectId: number): number {
  return db.one<{ count: number }>("SELECT count(*) AS count FROM workers WHERE project_id = ?", projectId)?.count ?? 0;
}

export type NewWorker = Pick<WorkerRow, "project_id" | "name" | "name_key" | "created_ms" | "ephemeral">;

export function insertWorker(db: Db, worker: NewWorker): number {
  return db.insert(
    "INSERT INTO workers (project_id, name, name_key, created_ms, ephemeral) VALUES (?, ?, ?, ?, ?)",
    worker.project_id,
    worker.name,
    worker.name_key,
    worker.created_ms,
    worker.ephemeral,
  );
}

export function setLease(db: Db, workerId: number, lease: Lease): void {
  db.run(
    "UPDATE workers SET lease_phase = ?, generation = ?, holder_run = ? WHERE id = ?",
    lease.phase,
    lease.generation,
    lease.phase === "free" ? null : lease.run,
    workerId,
  );
}

export function leaseOf(row: WorkerRow): Lease {
  if (row.lease_phase === "free" || row.holder_run === null) return { phase: "free", generation: row.generation };
  return { phase: row.lease_phase, generation: row.generation, run: row.holder_run };
}

export type StoredLaunch = Pick<WorkerRow, "command" | "cwd" | "environment" | "vendor" | "program_at" | "declared">;

export function setLaunch(db: Db, workerId: number, launch: StoredLaunch): void {
  db.run(
    `UPDATE workers SET command = ?, cwd = ?, environment = ?, vendor = ?, program_at = ?, declared = ?, unresumable = NULL
     WHERE id = ?`,
    launch.command,
    launch.cwd,
    launch.environment,
    launch.vendor,
    launch.program_at,
    launch.declared,
    workerId,
  );
}

/** The conversation its next start is to branch; null once it has. */
export function setForkOf(db: Db, workerId: number, sessionId: number | null): void {
  db.run("UPDATE workers SET fork_of = ? WHERE id = ?", sessionId, workerId);
}

/** Who started it last: a worker, or null for the operator. */
export function setSupervisor(db: Db, workerId: number, supervisorId: number | null): void {
  db.run("UPDATE workers SET supervisor_id = ? WHERE id = ?", supervisorId, workerId);
}

export function setPaused(db: Db, workerId: number, paused: boolean): void {
  db.run("UPDATE workers SET paused = ? WHERE id = ?", paused ? 1 : 0, workerId);
}

export function setUnresumable(db: Db, workerId: number, why: string | null): void {
  db.run("UPDATE workers SET unresumable = ? WHERE id = ?", why, workerId);
}

/** The folders of a project's workers, after the project itself was moved. */
export function rebaseFolders(db: Db, projectId: number, from: string, to: string): void {
  db.run(
    `UPDATE workers SET cwd = ?1 || substr(cwd, length(?2) + 1)
     WHERE project_id = ?3 AND (cwd = ?2 OR substr(cwd, 1, length(?2) + 1) = ?2 || '/')`,
    to,
    from,
    projectId,
  );
}

export function renameWorker(db: Db, workerId: number, name: string, nameKey: string): void {
  db.run("UPDATE workers SET name = ?, name_key = ? WHERE id = ?", name, nameKey, workerId);
}

export function retireWorker(db: Db, workerId: number, nowMs: number): void {
  db.run("UPDATE workers SET retired_ms = ?, environment = '{}' WHERE id = ?", nowMs, workerId);
}

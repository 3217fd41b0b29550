import { asRead, type Db } from "./db.ts";

export interface Tombstone {
  readonly projectId: number;
  readonly nameKey: string;
  readonly name: string;
  readonly workerId: number;
  readonly createdMs: number;
}

const COLUMNS = "project_id AS projectId, name_key AS nameKey, name, worker_id AS workerId, created_ms AS createdMs";

export function tombstoneByName(db: Db, projectId: number, nameKey: string): Tombstone | null {
  return db.cachedOne(
    asRead<Tombstone>,
    `SELECT ${COLUMNS} FROM tombstones WHERE project_id = ? AND name_key = ?`,
    projectId,
    nameKey,
  );
}

export function tombstonesOfWorker(db: Db, workerId: number): Tombstone[] {
  return db.all(`SELECT ${COLUMNS} FROM tombstones WHERE worker_id = ? ORDER BY created_ms DESC`, workerId);
}

export function insertTombstone(db: Db, row: Tombstone): void {
  db.run(
    `INSERT INTO tombstones (project_id, name_key, name, worker_id, created_ms) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (project_id, name_key) DO UPDATE SET
       name = excluded.name, worker_id = excluded.worker_id, created_ms = excluded.created_ms`,
    row.projectId,
    row.nameKey,
    row.name,
    row.workerId,
    row.createdMs,
  );
}

export function deleteTombstone(db: Db, projectId: number, nameKey: string): void {
  db.run("DELETE FROM tombstones WHERE project_id = ? AND name_key = ?", projectId, nameKey);
}

export function deleteTombstonesOfWorker(db: Db, workerId: number): void {
  db.run("DELETE FROM tombstones WHERE worker_id = ?", workerId);
}

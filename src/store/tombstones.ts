import type { Db } from "./db.ts";

/** A row is shared by all who ask for it, and frozen. */
export type TombstoneRow = Readonly<TombstoneColumns>;

interface TombstoneColumns {
  project_id: number;
  name_key: string;
  name: string;
  worker_id: number;
  created_ms: number;
}

export function tombstoneByName(db: Db, projectId: number, nameKey: string): TombstoneRow | null {
  return db.cachedOne("SELECT * FROM tombstones WHERE project_id = ? AND name_key = ?", projectId, nameKey);
}

export function tombstonesOfWorker(db: Db, workerId: number): TombstoneRow[] {
  return db.all("SELECT * FROM tombstones WHERE worker_id = ? ORDER BY created_ms DESC", workerId);
}

export function insertTombstone(db: Db, row: TombstoneRow): void {
  db.run(
    `INSERT INTO tombstones (project_id, name_key, name, worker_id, created_ms) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (project_id, name_key) DO UPDATE SET
       name = excluded.name, worker_id = excluded.worker_id, created_ms = excluded.created_ms`,
    row.project_id,
    row.name_key,
    row.name,
    row.worker_id,
    row.created_ms,
  );
}

export function deleteTombstone(db: Db, projectId: number, nameKey: string): void {
  db.run("DELETE FROM tombstones WHERE project_id = ? AND name_key = ?", projectId, nameKey);
}

export function deleteTombstonesOfWorker(db: Db, workerId: number): void {
  db.run("DELETE FROM tombstones WHERE worker_id = ?", workerId);
}

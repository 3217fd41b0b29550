import type { Db } from "./db.ts";
import type { FleetSettings, OnHold } from "./workers.ts";

/**
 * Records that the worker should run from now on, and clears what kept it from running before. Its window comes behind those of the
 * workers that were brought up before it, unless it has a place already, or shares the window of its group.
 */
export function setDesired(db: Db, workerId: number, settings: FleetSettings): void {
  db.run(
    `UPDATE workers SET window_index = coalesce(
       (SELECT min(mate.window_index) FROM workers AS mate WHERE mate.project_id = workers.project_id AND mate.retired_ms IS NULL
          AND ?2 IS NOT NULL AND json_extract(mate.fleet_settings, '$.group') = ?2),
       (SELECT coalesce(max(other.window_index), 0) + 1 FROM workers AS other
          WHERE other.project_id = workers.project_id AND other.retired_ms IS NULL))
     WHERE id = ?1 AND window_index IS NULL`,
    workerId,
    settings.group,
  );
  db.run(
    "UPDATE workers SET desired = 1, fleet_settings = ?, on_hold = NULL, unresumable = NULL, restarts = 0 WHERE id = ?",
    JSON.stringify(settings),
    workerId,
  );
}

/** Records where a worker's window was seen. */
export function setWindowIndex(db: Db, workerId: number, index: number): void {
  db.run("UPDATE workers SET window_index = ?2 WHERE id = ?1 AND window_index IS NOT ?2", workerId, index);
}

/** Returns the place of a worker's window, and the last place that a worker of its project has. */
export function windowPlaceOf(db: Db, workerId: number): { index: number | null; last: number } {
  const row = db.one<{ place: number | null; last: number | null }>(
    `SELECT window_index AS place, (SELECT max(other.window_index) FROM workers AS other
       WHERE other.project_id = workers.project_id AND other.retired_ms IS NULL) AS last FROM workers WHERE id = ?`,
    workerId,
  );
  return { index: row?.place ?? null, last: row?.last ?? 0 };
}

/** Returns the number of a worker's window, where it was seen last; null before that. */
export function windowIndexOf(db: Db, workerId: number): number | null {
  return db.one<{ at: number | null }>("SELECT window_index AS at FROM workers WHERE id = ?", workerId)?.at ?? null;
}

export function clearDesired(db: Db, workerId: number): void {
  db.run("UPDATE workers SET desired = 0, on_hold = NULL WHERE id = ?", workerId);
}

export function setOnHold(db: Db, workerId: number, onHold: OnHold | null): void {
  db.run("UPDATE workers SET on_hold = ? WHERE id = ?", onHold === null ? null : JSON.stringify(onHold), workerId);
}

export function countRestart(db: Db, workerId: number): void {
  db.run("UPDATE workers SET restarts = restarts + 1 WHERE id = ?", workerId);
}

export interface TrustedFleet {
  projectId: number;
  digest: string;
  text: string;
  prompts: string;
  atMs: number;
}

/** Lists which texts are trusted, without the texts. */
export function trustedDigests(db: Db): Pick<TrustedFleet, "projectId" | "digest">[] {
  return db.all("SELECT project_id AS projectId, digest FROM trusted");
}

export function trustedFleetOf(db: Db, projectId: number): TrustedFleet | null {
  return db.one(
    "SELECT project_id AS projectId, digest, text, prompts, at_ms AS atMs FROM trusted WHERE project_id = ?",
    projectId,
  );
}

export function setTrustedFleet(db: Db, row: TrustedFleet): void {
  db.run(
    `INSERT INTO trusted (project_id, digest, text, prompts, at_ms) VALUES (?1, ?2, ?3, ?4, ?5)
     ON CONFLICT (project_id) DO UPDATE SET digest = ?2, text = ?3, prompts = ?4, at_ms = ?5`,
    row.projectId,
    row.digest,
    row.text,
    row.prompts,
    row.atMs,
  );
}

/** Notes that a turn has begun the new conversation that was asked for. */
export function clearBeginsAnew(db: Db, workerId: number): void {
  db.run(
    `UPDATE workers SET fleet_settings = json_remove(fleet_settings, '$.beginsAnew')
     WHERE id = ? AND json_extract(fleet_settings, '$.beginsAnew') IS NOT NULL`,
    workerId,
  );
}

import type { Db } from "./db.ts";
import type { FleetSettings, OnHold } from "./workers.ts";

/** Records that the worker should run from now on, and clears what kept it from running before. */
export function setDesired(db: Db, workerId: number, settings: FleetSettings): void {
  db.run(
    "UPDATE workers SET desired = 1, fleet_settings = ?, on_hold = NULL, unresumable = NULL, restarts = 0 WHERE id = ?",
    JSON.stringify(settings),
    workerId,
  );
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

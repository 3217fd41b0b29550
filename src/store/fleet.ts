import type { RestartPolicy } from "../core/restart.ts";
import type { Db } from "./db.ts";
import type { WorkerRow } from "./workers.ts";

/** How a worker of a fleet is kept. */
export interface Keeping {
  group: string | null;
  restart: RestartPolicy;
  /** The first turn of a new conversation. */
  prompt: string | null;
  /** The soft limit of whoever brought it up; the daemon's own is another. */
  openFiles: number | null;
  /** The generation it had when it was brought up: with no later run, it is still owed a start. */
  after: number;
}

/** Why a person is needed. */
export interface Held {
  state: "held" | "crash-looping";
  reason: string;
}

export function desiredWorkers(db: Db): WorkerRow[] {
  return db.all("SELECT * FROM workers WHERE desired = 1 AND retired_ms IS NULL ORDER BY id");
}

/** From now on it should run; what stood in the way is looked at anew. */
export function desire(db: Db, workerId: number, keeping: Keeping): void {
  db.run(
    "UPDATE workers SET desired = 1, keeping = ?, held = NULL, unresumable = NULL, restarts = 0 WHERE id = ?",
    JSON.stringify(keeping),
    workerId,
  );
}

export function undesire(db: Db, workerId: number): void {
  db.run("UPDATE workers SET desired = 0, held = NULL WHERE id = ?", workerId);
}

export function setHeld(db: Db, workerId: number, held: Held | null): void {
  db.run("UPDATE workers SET held = ? WHERE id = ?", held === null ? null : JSON.stringify(held), workerId);
}

export function countRestart(db: Db, workerId: number): void {
  db.run("UPDATE workers SET restarts = restarts + 1 WHERE id = ?", workerId);
}

export function keepingOf({ keeping }: Pick<WorkerRow, "keeping">): Keeping {
  return keeping === null ? PLAIN : (JSON.parse(keeping) as Keeping);
}

const PLAIN: Keeping = { group: null, restart: "on-failure", prompt: null, openFiles: null, after: 0 };

export function heldOf({ held }: Pick<WorkerRow, "held">): Held | null {
  return held === null ? null : (JSON.parse(held) as Held);
}

export interface TrustedRow {
  project_id: number;
  digest: string;
  text: string;
  prompts: string;
  at_ms: number;
}

export function trustedOf(db: Db, projectId: number): TrustedRow | null {
  return db.one("SELECT * FROM trusted WHERE project_id = ?", projectId);
}

export function setTrusted(db: Db, row: TrustedRow): void {
  db.run(
    `INSERT INTO trusted (project_id, digest, text, prompts, at_ms) VALUES (?1, ?2, ?3, ?4, ?5)
     ON CONFLICT (project_id) DO UPDATE SET digest = ?2, text = ?3, prompts = ?4, at_ms = ?5`,
    row.project_id,
    row.digest,
    row.text,
    row.prompts,
    row.at_ms,
  );
}

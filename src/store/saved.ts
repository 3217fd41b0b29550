import type { Db } from "./db.ts";

export interface SavedRow {
  id: number;
  project_id: number;
  name: string;
  name_key: string;
  created_ms: number;
  updated_ms: number;
}

export function savedByName(db: Db, projectId: number, nameKey: string): SavedRow | null {
  return db.one("SELECT * FROM saved WHERE project_id = ? AND name_key = ?", projectId, nameKey);
}

export function savedOfProject(db: Db, projectId: number): SavedRow[] {
  return db.all("SELECT * FROM saved WHERE project_id = ? ORDER BY name_key", projectId);
}

export function insertSaved(db: Db, row: Omit<SavedRow, "id">): number {
  return db.insert(
    "INSERT INTO saved (project_id, name, name_key, created_ms, updated_ms) VALUES (?, ?, ?, ?, ?)",
    row.project_id,
    row.name,
    row.name_key,
    row.created_ms,
    row.updated_ms,
  );
}

export function touchSaved(db: Db, id: number, nowMs: number): void {
  db.run("UPDATE saved SET updated_ms = ? WHERE id = ?", nowMs, id);
}

export function deleteSaved(db: Db, id: number): void {
  db.run("UPDATE projects SET active_saved = NULL WHERE active_saved = ?", id);
  db.run("DELETE FROM saved_sessions WHERE saved_id = ?", id);
  db.run("DELETE FROM saved WHERE id = ?", id);
}

export function setActiveSaved(db: Db, projectId: number, savedId: number): void {
  db.run("UPDATE projects SET active_saved = ? WHERE id = ?", savedId, projectId);
}

export function activeSaved(db: Db, projectId: number): SavedRow | null {
  return db.one(
    "SELECT saved.* FROM saved JOIN projects ON saved.id = projects.active_saved WHERE projects.id = ?",
    projectId,
  );
}

export function setSavedSession(db: Db, savedId: number, workerId: number, sessionId: number): void {
  db.run(
    `INSERT INTO saved_sessions (saved_id, worker_id, session_id) VALUES (?, ?, ?)
     ON CONFLICT (saved_id, worker_id) DO UPDATE SET session_id = excluded.session_id`,
    savedId,
    workerId,
    sessionId,
  );
}

export function dropSavedSessions(db: Db, savedId: number): void {
  db.run("DELETE FROM saved_sessions WHERE saved_id = ?", savedId);
}

/** Its worker was retired: its name is free, and its conversations are nobody's. */
export function dropSavedOfWorker(db: Db, workerId: number): void {
  db.run("DELETE FROM saved_sessions WHERE worker_id = ?", workerId);
}

export interface SavedSessionRow {
  worker_id: number;
  session_id: number;
  name: string;
  retired_ms: number | null;
}

export function sessionsOfSaved(db: Db, savedId: number): SavedSessionRow[] {
  return db.all(
    `SELECT worker_id, saved_sessions.session_id, workers.name, workers.retired_ms FROM saved_sessions
     JOIN workers ON workers.id = worker_id WHERE saved_id = ? ORDER BY name_key`,
    savedId,
  );
}

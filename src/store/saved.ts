import type { Db } from "./db.ts";

/** A saved session: one name for the conversations of a whole fleet. */
export interface SavedSession {
  id: number;
  projectId: number;
  name: string;
  nameKey: string;
  createdMs: number;
  updatedMs: number;
}

const COLUMNS = `saved.id, saved.project_id AS projectId, saved.name, saved.name_key AS nameKey,
  saved.created_ms AS createdMs, saved.updated_ms AS updatedMs`;

export function savedByName(db: Db, projectId: number, nameKey: string): SavedSession | null {
  return db.one(`SELECT ${COLUMNS} FROM saved WHERE project_id = ? AND name_key = ?`, projectId, nameKey);
}

export function savedOfProject(db: Db, projectId: number): SavedSession[] {
  return db.all(`SELECT ${COLUMNS} FROM saved WHERE project_id = ? ORDER BY name_key`, projectId);
}

export function insertSaved(db: Db, row: Omit<SavedSession, "id">): number {
  return db.insert(
    "INSERT INTO saved (project_id, name, name_key, created_ms, updated_ms) VALUES (?, ?, ?, ?, ?)",
    row.projectId,
    row.name,
    row.nameKey,
    row.createdMs,
    row.updatedMs,
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

export function activeSaved(db: Db, projectId: number): SavedSession | null {
  return db.one(
    `SELECT ${COLUMNS} FROM saved JOIN projects ON saved.id = projects.active_saved WHERE projects.id = ?`,
    projectId,
  );
}

export function setSavedConversation(db: Db, savedId: number, workerId: number, conversationId: number): void {
  db.run(
    `INSERT INTO saved_sessions (saved_id, worker_id, session_id) VALUES (?, ?, ?)
     ON CONFLICT (saved_id, worker_id) DO UPDATE SET session_id = excluded.session_id`,
    savedId,
    workerId,
    conversationId,
  );
}

export function dropSavedConversations(db: Db, savedId: number): void {
  db.run("DELETE FROM saved_sessions WHERE saved_id = ?", savedId);
}

/** Removes a retired worker from all saved sessions: its name is free, and its conversations belong to nobody. */
export function dropSavedOfWorker(db: Db, workerId: number): void {
  db.run("DELETE FROM saved_sessions WHERE worker_id = ?", workerId);
}

export interface SavedConversation {
  workerId: number;
  conversationId: number;
  name: string;
  retiredMs: number | null;
}

export function conversationsOfSaved(db: Db, savedId: number): SavedConversation[] {
  return db.all(
    `SELECT worker_id AS workerId, saved_sessions.session_id AS conversationId, workers.name,
       workers.retired_ms AS retiredMs
     FROM saved_sessions JOIN workers ON workers.id = worker_id WHERE saved_id = ? ORDER BY name_key`,
    savedId,
  );
}

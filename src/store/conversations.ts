import type { Provenance } from "../protocol/records/conversation.ts";
import type { Db } from "./db.ts";

export interface SessionRow {
  id: number;
  worker_id: number;
  vendor: string;
  vendor_id: string;
  config_dir: string;
  config_variables: string;
  launch_cwd: string;
  provenance: Provenance;
  rotated_from: number | null;
  forked_from: number | null;
  created_ms: number;
  released_ms: number | null;
  transcript: string | null;
  transcript_bytes: number | null;
  transcript_boot: string | null;
  prompted: number;
  version: string | null;
}

export type NewSession = Omit<
  SessionRow,
  "id" | "released_ms" | "transcript" | "transcript_bytes" | "transcript_boot" | "prompted" | "version"
>;

export function insertSession(db: Db, session: NewSession): number {
  return db.insert(
    `INSERT INTO sessions (worker_id, vendor, vendor_id, config_dir, config_variables, launch_cwd, provenance,
       rotated_from, forked_from, created_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    session.worker_id,
    session.vendor,
    session.vendor_id,
    session.config_dir,
    session.config_variables,
    session.launch_cwd,
    session.provenance,
    session.rotated_from,
    session.forked_from,
    session.created_ms,
  );
}

export function sessionById(db: Db, id: number): SessionRow | null {
  return db.one("SELECT * FROM sessions WHERE id = ?", id);
}

/** Whose it is now: at most one worker's. */
export function sessionInUse(db: Db, vendor: string, configDir: string, vendorId: string): SessionRow | null {
  return db.one(
    "SELECT * FROM sessions WHERE vendor = ? AND config_dir = ? AND vendor_id = ? AND released_ms IS NULL",
    vendor,
    configDir,
    vendorId,
  );
}

/** Newest first. */
export function sessionsOfWorker(db: Db, workerId: number, limit: number): SessionRow[] {
  return db.all("SELECT * FROM sessions WHERE worker_id = ? ORDER BY id DESC LIMIT ?", workerId, limit);
}

export function bindSession(db: Db, workerId: number, sessionId: number | null): void {
  db.run("UPDATE workers SET session_id = ? WHERE id = ?", sessionId, workerId);
}

/** It goes on in another folder than it began in. */
export function setPlace(db: Db, id: number, launchCwd: string, configVariables: string): void {
  db.run("UPDATE sessions SET launch_cwd = ?, config_variables = ? WHERE id = ?", launchCwd, configVariables, id);
}

export function releaseSessions(db: Db, workerId: number, nowMs: number): void {
  db.run("UPDATE sessions SET released_ms = ? WHERE worker_id = ? AND released_ms IS NULL", nowMs, workerId);
}

export interface SeenTranscript {
  file: string;
  bytes: number;
  version: string | null;
  /** The boot in which it was seen. */
  boot: string;
}

export function setTranscript(db: Db, id: number, { file, bytes, version, boot }: SeenTranscript): void {
  db.run(
    `UPDATE sessions SET transcript = ?, transcript_bytes = ?, transcript_boot = ?, version = coalesce(?, version)
     WHERE id = ?`,
    file,
    bytes,
    boot,
    version,
    id,
  );
}

export function setPrompted(db: Db, id: number): void {
  db.run("UPDATE sessions SET prompted = 1 WHERE id = ?", id);
}

export interface RunSessionRow {
  run_id: string;
  seq: number;
  session_id: number;
  began: "new" | "resume" | "rotation";
  at_ms: number;
  proved: "pending" | "true" | "false";
  evidence: string | null;
  proved_ms: number | null;
  bytes_before: number | null;
}

/** The run is in this session from now on; once more if it comes back to one. */
export function enterSession(db: Db, entry: Omit<RunSessionRow, "seq">): void {
  db.run(
    `INSERT INTO run_sessions (run_id, seq, session_id, began, at_ms, proved, evidence, proved_ms, bytes_before)
     VALUES (?1, (SELECT coalesce(max(seq), 0) + 1 FROM run_sessions WHERE run_id = ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
    entry.run_id,
    entry.session_id,
    entry.began,
    entry.at_ms,
    entry.proved,
    entry.evidence,
    entry.proved_ms,
    entry.bytes_before,
  );
}

/** The one it entered last is the one it is in. */
export function lastSessionOfRun(db: Db, runId: string): RunSessionRow | null {
  return db.one("SELECT * FROM run_sessions WHERE run_id = ? ORDER BY seq DESC LIMIT 1", runId);
}

/** The conversation the run is in; null for one that is in none. */
export function sessionOfRun(db: Db, runId: string): SessionRow | null {
  return db.one(
    `SELECT sessions.* FROM sessions JOIN run_sessions ON sessions.id = session_id
     WHERE run_id = ? ORDER BY seq DESC LIMIT 1`,
    runId,
  );
}

export function sessionsOfRun(db: Db, runId: string): (RunSessionRow & { vendor_id: string })[] {
  return db.all(
    `SELECT run_sessions.*, sessions.vendor_id FROM run_sessions JOIN sessions ON sessions.id = session_id
     WHERE run_id = ? ORDER BY seq`,
    runId,
  );
}

/** How the last run that was in it came out. */
export function lastProofOfSession(db: Db, sessionId: number): RunSessionRow | null {
  return db.one(
    `SELECT run_sessions.* FROM run_sessions JOIN runs ON runs.id = run_id
     WHERE session_id = ? ORDER BY generation DESC, seq DESC LIMIT 1`,
    sessionId,
  );
}

/** Of the session the run is in now. */
export function setProof(db: Db, entry: Pick<RunSessionRow, "run_id" | "proved" | "evidence" | "proved_ms">): void {
  db.run(
    `UPDATE run_sessions SET proved = ?1, evidence = ?2, proved_ms = ?3
     WHERE run_id = ?4 AND seq = (SELECT max(seq) FROM run_sessions WHERE run_id = ?4)`,
    entry.proved,
    entry.evidence,
    entry.proved_ms,
    entry.run_id,
  );
}

/** The folders in which the conversations of a project's workers began, after the project itself was moved. */
export function rebaseSessions(db: Db, projectId: number, from: string, to: string): void {
  db.run(
    `UPDATE sessions SET launch_cwd = ?1 || substr(launch_cwd, length(?2) + 1)
     WHERE worker_id IN (SELECT id FROM workers WHERE project_id = ?3)
       AND (launch_cwd = ?2 OR substr(launch_cwd, 1, length(?2) + 1) = ?2 || '/')`,
    to,
    from,
    projectId,
  );
}

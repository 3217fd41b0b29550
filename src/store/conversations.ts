import type { Provenance, Variables } from "../protocol/records/conversation.ts";
import type { Db } from "./db.ts";
import { parseColumn } from "./failure.ts";
import type { Worker } from "./workers.ts";

/** A vendor's conversation that a worker is or was in; the table is still called `sessions`. */
export interface Conversation {
  id: number;
  workerId: number;
  vendor: string;
  vendorId: string;
  configDir: string;
  /** The variables that lead the vendor's program to the config dir; null unsets one. */
  variables: Variables;
  launchCwd: string;
  provenance: Provenance;
  rotatedFrom: number | null;
  forkedFrom: number | null;
  createdMs: number;
  releasedMs: number | null;
  transcript: string | null;
  transcriptBytes: number | null;
  transcriptBoot: string | null;
  /** Whether anything was ever said in the conversation. */
  prompted: boolean;
  version: string | null;
}

export type NewConversationRow = Omit<
  Conversation,
  "id" | "releasedMs" | "transcript" | "transcriptBytes" | "transcriptBoot" | "prompted" | "version"
>;

/** The columns of a conversation as SQLite returns them: a boolean is 0 or 1, the variables are JSON. */
type ConversationColumns = Omit<Conversation, "prompted" | "variables"> & { prompted: number; variables: string };

const COLUMNS = `sessions.id, sessions.worker_id AS workerId, vendor, vendor_id AS vendorId, config_dir AS configDir,
  config_variables AS variables, launch_cwd AS launchCwd, provenance, rotated_from AS rotatedFrom,
  forked_from AS forkedFrom, created_ms AS createdMs, released_ms AS releasedMs, transcript,
  transcript_bytes AS transcriptBytes, transcript_boot AS transcriptBoot, prompted, version`;

function conversationOf(columns: ConversationColumns): Conversation {
  return {
    ...columns,
    prompted: columns.prompted === 1,
    variables: parseColumn<Variables>("sessions.config_variables", columns.variables),
  };
}

function oneConversation(db: Db, sql: string, ...values: (string | number)[]): Conversation | null {
  const columns = db.one<ConversationColumns>(sql, ...values);
  return columns && conversationOf(columns);
}

export function insertConversation(db: Db, conversation: NewConversationRow): number {
  return db.insert(
    `INSERT INTO sessions (worker_id, vendor, vendor_id, config_dir, config_variables, launch_cwd, provenance,
       rotated_from, forked_from, created_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    conversation.workerId,
    conversation.vendor,
    conversation.vendorId,
    conversation.configDir,
    JSON.stringify(conversation.variables),
    conversation.launchCwd,
    conversation.provenance,
    conversation.rotatedFrom,
    conversation.forkedFrom,
    conversation.createdMs,
  );
}

export function conversationById(db: Db, id: number): Conversation | null {
  return oneConversation(db, `SELECT ${COLUMNS} FROM sessions WHERE id = ?`, id);
}

/** Returns the conversation that the worker's next start resumes; null for a worker that is in none. */
export function boundConversation(db: Db, worker: Pick<Worker, "conversationId"> | null): Conversation | null {
  return worker === null || worker.conversationId === null ? null : conversationById(db, worker.conversationId);
}

/** Finds the conversation if a worker is bound to it; at most one worker is. */
export function conversationInUse(db: Db, vendor: string, configDir: string, vendorId: string): Conversation | null {
  return oneConversation(
    db,
    `SELECT ${COLUMNS} FROM sessions WHERE vendor = ? AND config_dir = ? AND vendor_id = ? AND released_ms IS NULL`,
    vendor,
    configDir,
    vendorId,
  );
}

/** Lists the conversations of a worker, newest first. */
export function conversationsOfWorker(db: Db, workerId: number, limit: number): Conversation[] {
  return db
    .all<ConversationColumns>(
      `SELECT ${COLUMNS} FROM sessions WHERE worker_id = ? ORDER BY id DESC LIMIT ?`,
      workerId,
      limit,
    )
    .map(conversationOf);
}

export function bindConversation(db: Db, workerId: number, conversationId: number | null): void {
  db.run("UPDATE workers SET session_id = ? WHERE id = ?", conversationId, workerId);
}

/** Records that the conversation continues in another folder than it began in. */
export function moveConversation(db: Db, id: number, launchCwd: string, variables: Variables): void {
  db.run(
    "UPDATE sessions SET launch_cwd = ?, config_variables = ? WHERE id = ?",
    launchCwd,
    JSON.stringify(variables),
    id,
  );
}

export function releaseConversations(db: Db, workerId: number, nowMs: number): void {
  db.run("UPDATE sessions SET released_ms = ? WHERE worker_id = ? AND released_ms IS NULL", nowMs, workerId);
}

export interface TranscriptState {
  file: string;
  bytes: number;
  version: string | null;
  /** The boot during which the file had this size. */
  boot: string;
}

export function setTranscript(db: Db, id: number, { file, bytes, version, boot }: TranscriptState): void {
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

export interface RunConversation {
  runId: string;
  seq: number;
  conversationId: number;
  began: "new" | "resume" | "rotation";
  atMs: number;
  proved: "pending" | "true" | "false";
  evidence: string | null;
  provedMs: number | null;
  bytesBefore: number | null;
}

const ENTRY_COLUMNS = `run_id AS runId, seq, session_id AS conversationId, began, at_ms AS atMs, proved, evidence,
  proved_ms AS provedMs, bytes_before AS bytesBefore`;

/** Records that the run is in this conversation from now on; returning to one adds another entry. */
export function enterConversation(db: Db, entry: Omit<RunConversation, "seq">): void {
  db.run(
    `INSERT INTO run_sessions (run_id, seq, session_id, began, at_ms, proved, evidence, proved_ms, bytes_before)
     VALUES (?1, (SELECT coalesce(max(seq), 0) + 1 FROM run_sessions WHERE run_id = ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
    entry.runId,
    entry.conversationId,
    entry.began,
    entry.atMs,
    entry.proved,
    entry.evidence,
    entry.provedMs,
    entry.bytesBefore,
  );
}

/** Returns the entry of the conversation that the run is in: the one it entered last. */
export function lastEntryOfRun(db: Db, runId: string): RunConversation | null {
  return db.one(`SELECT ${ENTRY_COLUMNS} FROM run_sessions WHERE run_id = ? ORDER BY seq DESC LIMIT 1`, runId);
}

/** Returns the conversation the run is in; null for a run that is in none. */
export function conversationOfRun(db: Db, runId: string): Conversation | null {
  return oneConversation(
    db,
    `SELECT ${COLUMNS} FROM sessions JOIN run_sessions ON sessions.id = session_id
     WHERE run_id = ? ORDER BY seq DESC LIMIT 1`,
    runId,
  );
}

export function entriesOfRun(db: Db, runId: string): (RunConversation & { vendorId: string })[] {
  return db.all(
    `SELECT ${ENTRY_COLUMNS}, sessions.vendor_id AS vendorId FROM run_sessions JOIN sessions ON sessions.id = session_id
     WHERE run_id = ? ORDER BY seq`,
    runId,
  );
}

/** Returns the entry of the last run that was in the conversation. */
export function lastEntryOfConversation(db: Db, conversationId: number): RunConversation | null {
  return db.one(
    `SELECT ${ENTRY_COLUMNS} FROM run_sessions JOIN runs ON runs.id = run_id
     WHERE session_id = ? ORDER BY generation DESC, seq DESC LIMIT 1`,
    conversationId,
  );
}

/** Records the proof for the conversation the run is in now. */
export function setProof(db: Db, entry: Pick<RunConversation, "runId" | "proved" | "evidence" | "provedMs">): void {
  db.run(
    `UPDATE run_sessions SET proved = ?1, evidence = ?2, proved_ms = ?3
     WHERE run_id = ?4 AND seq = (SELECT max(seq) FROM run_sessions WHERE run_id = ?4)`,
    entry.proved,
    entry.evidence,
    entry.provedMs,
    entry.runId,
  );
}

/** Moves the launch folders of a project's conversations along after the project itself was moved. */
export function rebaseConversations(db: Db, projectId: number, from: string, to: string): void {
  db.run(
    `UPDATE sessions SET launch_cwd = ?1 || substr(launch_cwd, length(?2) + 1)
     WHERE worker_id IN (SELECT id FROM workers WHERE project_id = ?3)
       AND (launch_cwd = ?2 OR substr(launch_cwd, 1, length(?2) + 1) = ?2 || '/')`,
    to,
    from,
    projectId,
  );
}

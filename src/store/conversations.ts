import type { Provenance, Variables } from "../protocol/records/conversation.ts";
import type { RestoredAt } from "../protocol/records/restored.ts";
import { asRead, type Db } from "./db.ts";
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
  /** The marks of the last prompts that the worker's own runs sent in it, newest last. */
  ownPrompts: readonly string[];
  /** The conversation took the place of one that its user had cleared. */
  cleared: boolean;
  /** A run was in the conversation since its copy was last known to be complete. */
  copyBehind: boolean;
  /** The last restore of the copy, and what it brought back. */
  restored: RestoredAt | null;
  version: string | null;
  /** The name that its user gave it in the vendor's program. It is no worker's name, and two conversations may have the same. */
  name: string | null;
}

export type NewConversationRow = Omit<
  Conversation,
  | "id"
  | "releasedMs"
  | "transcript"
  | "transcriptBytes"
  | "transcriptBoot"
  | "prompted"
  | "ownPrompts"
  | "copyBehind"
  | "restored"
  | "version"
  | "name"
>;

/** The columns of a conversation as SQLite returns them: a boolean is 0 or 1, a list and the variables are JSON. */
type ConversationColumns = Omit<
  Conversation,
  "prompted" | "cleared" | "copyBehind" | "ownPrompts" | "restored" | "variables"
> & {
  restored: string | null;
  prompted: number;
  cleared: number;
  copyBehind: number;
  ownPrompts: string;
  variables: string;
};

const COLUMNS = `sessions.id, sessions.worker_id AS workerId, vendor, vendor_id AS vendorId, config_dir AS configDir,
  config_variables AS variables, launch_cwd AS launchCwd, provenance, rotated_from AS rotatedFrom,
  forked_from AS forkedFrom, created_ms AS createdMs, released_ms AS releasedMs, transcript,
  transcript_bytes AS transcriptBytes, transcript_boot AS transcriptBoot, prompted,
  own_prompts AS ownPrompts, cleared, copy_behind AS copyBehind, restored, version, sessions.name`;

function conversationOf(columns: ConversationColumns): Conversation {
  return {
    ...columns,
    prompted: columns.prompted === 1,
    cleared: columns.cleared === 1,
    copyBehind: columns.copyBehind === 1,
    ownPrompts: parseColumn<string[]>("sessions.own_prompts", columns.ownPrompts),
    restored: columns.restored === null ? null : parseColumn<RestoredAt>("sessions.restored", columns.restored),
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
       rotated_from, forked_from, cleared, created_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    conversation.workerId,
    conversation.vendor,
    conversation.vendorId,
    conversation.configDir,
    JSON.stringify(conversation.variables),
    conversation.launchCwd,
    conversation.provenance,
    conversation.rotatedFrom,
    conversation.forkedFrom,
    conversation.cleared ? 1 : 0,
    conversation.createdMs,
  );
}

// Every poll of every run asks these, and most of the time nothing has changed. The texts are put together once.
const BY_ID = `SELECT ${COLUMNS} FROM sessions WHERE id = ?`;
const OF_RUN = `SELECT ${COLUMNS} FROM sessions JOIN run_sessions ON sessions.id = session_id
  WHERE run_id = ? ORDER BY seq DESC LIMIT 1`;

export function conversationById(db: Db, id: number): Conversation | null {
  return db.cachedOne(conversationOf, BY_ID, id);
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

/** Lists the conversations of this id that workers are bound to, in every config dir. */
export function conversationsOfId(db: Db, vendor: string, vendorId: string): Conversation[] {
  return db
    .all<ConversationColumns>(
      `SELECT ${COLUMNS} FROM sessions WHERE vendor = ? AND vendor_id = ? AND released_ms IS NULL`,
      vendor,
      vendorId,
    )
    .map(conversationOf);
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

export function setConversationName(db: Db, id: number, name: string | null): void {
  db.run("UPDATE sessions SET name = ? WHERE id = ?", name, id);
}

export function setPrompted(db: Db, id: number): void {
  db.run("UPDATE sessions SET prompted = 1 WHERE id = ?", id);
}

/** Replaces the marks of the prompts that the worker's own runs sent in the conversation. */
export function setOwnPrompts(db: Db, id: number, marks: readonly string[]): void {
  db.run("UPDATE sessions SET own_prompts = ? WHERE id = ?", JSON.stringify(marks), id);
}

/** Records a restore, and that there is nothing more to be said about what the copy lacks. */
export function setRestored(db: Db, id: number, restored: RestoredAt): void {
  db.run("UPDATE sessions SET restored = ?, copy_behind = 0 WHERE id = ?", JSON.stringify(restored), id);
}

/** Records whether a run may have written more to the conversation than its copy has. */
export function setCopyBehind(db: Db, id: number, behind: boolean): void {
  db.run("UPDATE sessions SET copy_behind = ? WHERE id = ?", behind ? 1 : 0, id);
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

const LAST_ENTRY = `SELECT ${ENTRY_COLUMNS} FROM run_sessions WHERE run_id = ? ORDER BY seq DESC LIMIT 1`;

/** Returns the entry of the conversation that the run is in: the one it entered last. */
export function lastEntryOfRun(db: Db, runId: string): RunConversation | null {
  return db.cachedOne(asRead<RunConversation>, LAST_ENTRY, runId);
}

/** Returns the conversation the run is in; null for a run that is in none. */
export function conversationOfRun(db: Db, runId: string): Conversation | null {
  return db.cachedOne(conversationOf, OF_RUN, runId);
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
  return db.cachedOne(asRead<RunConversation>, LAST_OF_CONVERSATION, conversationId);
}

const LAST_OF_CONVERSATION = `SELECT ${ENTRY_COLUMNS} FROM run_sessions JOIN runs ON runs.id = run_id
  WHERE session_id = ? ORDER BY generation DESC, seq DESC LIMIT 1`;

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

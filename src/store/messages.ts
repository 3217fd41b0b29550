import { ON_THE_WAY, type Attachment, type MailState } from "../protocol/records/mail.ts";
import { asRead, type Db } from "./db.ts";
import { parseColumn } from "./failure.ts";

export interface Message {
  seq: number;
  id: string;
  projectId: number;
  toWorker: number | null;
  fromWorker: number | null;
  fromName: string;
  fromRun: string | null;
  body: string;
  digest: string;
  state: MailState;
  attempt: number;
  createdMs: number;
  changedMs: number;
  expiresMs: number | null;
  replyTo: string | null;
  expectsReply: boolean;
  attachments: readonly Attachment[];
  /** How many agents in a row have made each other write, without a person in between, up to this message. */
  hops: number;
  offerRun: string | null;
  offerGeneration: number | null;
}

export type NewMessage = Omit<Message, "seq" | "state" | "attempt" | "changedMs" | "offerRun" | "offerGeneration">;

/** The columns of a message as SQLite returns them: a boolean is 0 or 1, the list of attachments is JSON or null. */
type MessageColumns = Omit<Message, "expectsReply" | "attachments"> & {
  expectsReply: number;
  attachments: string | null;
};

const COLUMNS = `seq, id, project_id AS projectId, to_worker AS toWorker, from_worker AS fromWorker, from_name AS fromName,
  from_run AS fromRun, body, digest, state, attempt, created_ms AS createdMs, changed_ms AS changedMs,
  expires_ms AS expiresMs, reply_to AS replyTo, expects_reply AS expectsReply, attachments, hops, offer_run AS offerRun,
  offer_generation AS offerGeneration`;

function messageOf(columns: MessageColumns): Message {
  const { attachments } = columns;
  return {
    ...columns,
    expectsReply: columns.expectsReply === 1,
    attachments: attachments === null ? [] : parseColumn<Attachment[]>("messages.attachments", attachments),
  };
}

function oneMessage(db: Db, sql: string, ...values: (string | number)[]): Message | null {
  const columns = db.one<MessageColumns>(sql, ...values);
  return columns && messageOf(columns);
}

function allMessages(db: Db, sql: string, ...values: (string | number | null)[]): Message[] {
  return db.all<MessageColumns>(sql, ...values).map(messageOf);
}

export function messagesOfProject(db: Db, projectId: number): Message[] {
  return allMessages(db, `SELECT ${COLUMNS} FROM messages WHERE project_id = ?`, projectId);
}

/** Gives a message to another project. The project is part of what the digest is made of. */
export function setMessageProject(db: Db, seq: number, projectId: number, digest: string): void {
  db.run("UPDATE messages SET project_id = ?, digest = ? WHERE seq = ?", projectId, digest, seq);
}

/** Tells whether any message that is still kept was sent to the worker or by it. */
export function hasMessages(db: Db, workerId: number): boolean {
  return db.one("SELECT 1 FROM messages WHERE to_worker = ?1 OR from_worker = ?1 LIMIT 1", workerId) !== null;
}

export function insertMessage(db: Db, message: NewMessage): number {
  return db.insert(
    `INSERT INTO messages (id, project_id, to_worker, from_worker, from_name, from_run, body, digest, state, created_ms,
       changed_ms, expires_ms, reply_to, expects_reply, attachments, hops)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'queued', ?9, ?9, ?10, ?11, ?12, ?13, ?14)`,
    message.id,
    message.projectId,
    message.toWorker,
    message.fromWorker,
    message.fromName,
    message.fromRun,
    message.body,
    message.digest,
    message.createdMs,
    message.expiresMs,
    message.replyTo,
    message.expectsReply ? 1 : 0,
    message.attachments.length === 0 ? null : JSON.stringify(message.attachments),
    message.hops,
  );
}

/** Put together once, because every message that has an id is looked up by it. */
const BY_ID = `SELECT ${COLUMNS} FROM messages WHERE id = ?`;

export function messageById(db: Db, id: string): Message | null {
  return oneMessage(db, BY_ID, id);
}

export function messageBySeq(db: Db, seq: number): Message | null {
  return oneMessage(db, `SELECT ${COLUMNS} FROM messages WHERE seq = ?`, seq);
}

/** Returns the messages whose id has this prefix, two at most: that is enough to see that it is not unique. */
export function messagesByIdPrefix(db: Db, prefix: string): Message[] {
  return allMessages(
    db,
    `SELECT ${COLUMNS} FROM messages WHERE id >= ?1 AND id < ?1 || '\u{10FFFF}' ORDER BY id LIMIT 2`,
    prefix,
  );
}

/** Lists the unsettled messages of a mailbox, oldest first; `to` is null for the operator's. */
export function messagesOnTheWay(db: Db, projectId: number, to: number | null, limit: number): Message[] {
  return allMessages(
    db,
    `SELECT ${COLUMNS} FROM messages WHERE project_id = ? AND to_worker IS ? AND state IN ('queued', 'offered', 'injected')
     ORDER BY seq LIMIT ?`,
    projectId,
    to,
    limit,
  );
}

/** Counts the same messages by the same index. */
export function countMessagesOnTheWay(db: Db, projectId: number, to: number | null): number {
  const row = db.one<{ count: number }>(
    `SELECT count(*) AS count FROM messages INDEXED BY messages_on_the_way
     WHERE project_id = ? AND to_worker IS ? AND state IN ('queued', 'offered', 'injected')`,
    projectId,
    to,
  );
  return row?.count ?? 0;
}

/** Returns the next messages to offer. An earlier message that is offered to another run does not hold them up. */
export function queuedMessages(db: Db, projectId: number, to: number | null, limit: number, after = 0): Message[] {
  return allMessages(
    db,
    `SELECT ${COLUMNS} FROM messages WHERE project_id = ? AND to_worker IS ? AND state IN ('queued', 'offered', 'injected')
       AND state = 'queued' AND seq > ? ORDER BY seq LIMIT ?`,
    projectId,
    to,
    after,
    limit,
  );
}

/** Lists all messages of a mailbox, settled ones included, newest first. */
export function recentMessages(db: Db, projectId: number, to: number | null, limit: number): Message[] {
  return allMessages(
    db,
    `SELECT ${COLUMNS} FROM messages WHERE project_id = ? AND to_worker IS ? ORDER BY seq DESC LIMIT ?`,
    projectId,
    to,
    limit,
  );
}

/** Lists the newest messages of a project in a state, whoever they are for, newest first; only those before a number. */
export function messagesInState(
  db: Db,
  projectId: number,
  state: MailState,
  { before, limit }: { before: number; limit: number },
): Message[] {
  // The condition of a partial index has to stand in the query, word for word, for the index to be used.
  const indexed = ON_THE_WAY.has(state)
    ? "state IN ('queued', 'offered', 'injected')"
    : state === "read" || state === "answered"
      ? "state NOT IN ('queued', 'offered', 'injected')"
      : "state IN ('expired', 'cancelled', 'superseded', 'dead')";
  return allMessages(
    db,
    `SELECT ${COLUMNS} FROM messages WHERE project_id = ? AND ${indexed} AND state = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
    projectId,
    state,
    before,
    limit,
  );
}

/** Lists the questions in a mailbox that have no answer yet, oldest first. */
export function unansweredMessages(db: Db, projectId: number, to: number | null, limit: number): Message[] {
  return allMessages(
    db,
    `SELECT ${COLUMNS} FROM messages WHERE to_worker IS ?2 AND project_id = ?1 AND expects_reply = 1
       AND state IN ('queued', 'offered', 'injected', 'read') ORDER BY seq LIMIT ?3`,
    projectId,
    to,
    limit,
  );
}

/** Lists the questions of a project that were read and not answered, the newest first. */
export function readUnanswered(
  db: Db,
  projectId: number,
  { before, limit }: { before: number; limit: number },
): Message[] {
  return allMessages(
    db,
    `SELECT ${COLUMNS} FROM messages INDEXED BY messages_unanswered
     WHERE expects_reply = 1 AND state IN ('queued', 'offered', 'injected', 'read') AND state = 'read'
       AND project_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
    projectId,
    before,
    limit,
  );
}

/** Counts the questions to a worker that it has read and not answered. */
export function countUnanswered(db: Db, workerId: number): number {
  const row = db.cachedOne(
    asRead<{ count: number }>,
    `SELECT count(*) AS count FROM messages INDEXED BY messages_unanswered
     WHERE to_worker = ? AND expects_reply = 1 AND state IN ('queued', 'offered', 'injected', 'read') AND state = 'read'`,
    workerId,
  );
  return row?.count ?? 0;
}

export function firstReplyTo(db: Db, id: string): Message | null {
  return oneMessage(db, `SELECT ${COLUMNS} FROM messages WHERE reply_to = ? ORDER BY seq LIMIT 1`, id);
}

export function offersOfRun(db: Db, runId: string): Message[] {
  return allMessages(
    db,
    `SELECT ${COLUMNS} FROM messages WHERE offer_run = ? AND state IN ('offered', 'injected') ORDER BY seq`,
    runId,
  );
}

/** Lists every offer: a restarted daemon starts their timeouts again. */
export function allOffers(db: Db): Message[] {
  return allMessages(db, `SELECT ${COLUMNS} FROM messages WHERE offer_run IS NOT NULL AND state = 'offered'`);
}

export function messagesExpiredBy(db: Db, nowMs: number, limit: number): Message[] {
  return allMessages(
    db,
    `SELECT ${COLUMNS} FROM messages WHERE expires_ms IS NOT NULL AND state IN ('queued', 'offered') AND expires_ms <= ?
     ORDER BY expires_ms LIMIT ?`,
    nowMs,
    limit,
  );
}

/** Lists every file that was sent along with a message. */
export function allAttachments(db: Db): Attachment[] {
  return db
    .all<{ attachments: string }>("SELECT attachments FROM messages WHERE attachments IS NOT NULL")
    .flatMap(({ attachments }) => parseColumn<Attachment[]>("messages.attachments", attachments));
}

export interface MessageChange {
  state: MailState;
  nowMs: number;
  run: string | null;
  reason: string | null;
}

/** Changes the state of a message and records the step. An offer counts as an attempt; any other state ends the offer. */
export function changeMessage(db: Db, seq: number, change: MessageChange, offerGeneration: number | null = null): void {
  const isOffer = change.state === "offered" ? 1 : 0;
  const keepsOffer = change.state === "injected" ? 1 : 0;
  db.run(
    `UPDATE messages SET state = ?1, changed_ms = ?2, attempt = attempt + ?3,
       offer_run = CASE WHEN ?3 = 1 THEN ?4 WHEN ?6 = 1 THEN offer_run END,
       offer_generation = CASE WHEN ?3 = 1 THEN ?5 WHEN ?6 = 1 THEN offer_generation END
     WHERE seq = ?7`,
    change.state,
    change.nowMs,
    isOffer,
    change.run,
    offerGeneration,
    keepsOffer,
    seq,
  );
  db.run(
    `INSERT INTO message_steps (seq, step, state, at_ms, run_id, reason)
     VALUES (?1, (SELECT coalesce(max(step), 0) + 1 FROM message_steps WHERE seq = ?1), ?2, ?3, ?4, ?5)`,
    seq,
    change.state,
    change.nowMs,
    change.run,
    change.reason,
  );
}

/** Takes back that an offer was counted, because nothing was handed over. */
export function uncountOffer(db: Db, seq: number): void {
  db.run("UPDATE messages SET attempt = attempt - 1 WHERE seq = ? AND attempt > 0", seq);
}

/** Clears the expiry and the attempts of a message, as if it had never been offered. */
export function resetDelivery(db: Db, seq: number): void {
  db.run("UPDATE messages SET expires_ms = NULL, attempt = 0 WHERE seq = ?", seq);
}

export interface MessageStep {
  state: MailState;
  atMs: number;
  runId: string | null;
  reason: string | null;
}

export function stepsOf(db: Db, seq: number): MessageStep[] {
  return db.all(
    "SELECT state, at_ms AS atMs, run_id AS runId, reason FROM message_steps WHERE seq = ? ORDER BY step",
    seq,
  );
}

import type { MailState } from "../protocol/records/mail.ts";
import type { Db } from "./db.ts";
import { parseColumn } from "./failure.ts";

/** The messages in one state, with the time of the oldest. */
export interface MailCount {
  state: MailState;
  messages: number;
  oldestMs: number;
}

/** Counts mail that is on its way or did not arrive, by the indexes of just these: what was read is most of it, and is not looked at. */
export function countMailByState(db: Db): MailCount[] {
  const columns = "state, count(*) AS messages, min(created_ms) AS oldestMs FROM messages INDEXED BY";
  return [
    ...db.all<MailCount>(
      `SELECT ${columns} messages_on_the_way WHERE state IN ('queued', 'offered', 'injected') GROUP BY state`,
    ),
    ...db.all<MailCount>(
      `SELECT ${columns} messages_undelivered WHERE state IN ('expired', 'cancelled', 'superseded', 'dead') GROUP BY state`,
    ),
  ];
}

/** Counts the mail on its way to the operator, of all projects. */
export function countOperatorMail(db: Db): number {
  const sql = "SELECT coalesce(sum(messages), 0) AS count FROM mailboxes WHERE worker_id = 0";
  return db.one<{ count: number }>(sql)?.count ?? 0;
}

/** Copies of the conversations that workers would be resumed in. */
export interface CustodyFigures {
  copies: number;
  /** The times at which the oldest and the newest of them were made; null where there is none. */
  oldestMs: number | null;
  newestMs: number | null;
  /** Conversations with a transcript that has no copy. */
  missing: number;
}

export function custodyFigures(db: Db): CustodyFigures {
  const row = db.one<CustodyFigures>(
    `SELECT count(custody.kept_ms) AS copies, min(custody.kept_ms) AS oldestMs, max(custody.kept_ms) AS newestMs,
       coalesce(sum(custody.kept_ms IS NULL AND sessions.transcript IS NOT NULL), 0) AS missing
     FROM workers JOIN sessions ON sessions.id = workers.session_id LEFT JOIN custody ON custody.session_id = sessions.id
     WHERE workers.retired_ms IS NULL`,
  );
  return row ?? { copies: 0, oldestMs: null, newestMs: null, missing: 0 };
}

/** The types of events that are counted for people who watch many daemons. */
export type CountedEvent = "run.ended" | "turn.ended" | "session.proved" | "session.mismatch";

/** Lists the counted events after one number, up to another. */
export function countedEvents(
  db: Db,
  after: number,
  upTo: number,
): { type: CountedEvent; data: Record<string, unknown> }[] {
  const rows = db.all<{ type: CountedEvent; data: string }>(
    `SELECT type, data FROM events WHERE seq > ? AND seq <= ?
       AND type IN ('run.ended', 'turn.ended', 'session.proved', 'session.mismatch')`,
    after,
    upTo,
  );
  return rows.map(({ type, data }) => ({ type, data: parseColumn<Record<string, unknown>>("events.data", data) }));
}

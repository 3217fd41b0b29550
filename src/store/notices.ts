import type { NeedKind } from "../protocol/records/needs.ts";
import type { Db } from "./db.ts";

/** Something that somebody is needed for, as it was noticed. */
export interface StoredNotice {
  projectId: number;
  workerId: number;
  /** `worker` for a need of the worker itself, `mail` for its mail to the operator. */
  subject: "worker" | "mail";
  kind: NeedKind;
  reason: string | null;
  sinceMs: number;
  /** The time at which somebody was told of this kind of need last. */
  toldMs: number | null;
  isTold: boolean;
}

type NoticeColumns = Omit<StoredNotice, "isTold"> & { isTold: number };

export function allNotices(db: Db): StoredNotice[] {
  const rows = db.all<NoticeColumns>(
    `SELECT project_id AS projectId, worker_id AS workerId, subject, kind, reason, since_ms AS sinceMs, told_ms AS toldMs,
       is_told AS isTold FROM notices`,
  );
  return rows.map((row) => ({ ...row, isTold: row.isTold === 1 }));
}

export function setNotice(db: Db, notice: StoredNotice): void {
  db.run(
    `INSERT INTO notices (project_id, worker_id, subject, kind, reason, since_ms, told_ms, is_told)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
     ON CONFLICT (worker_id, subject) DO UPDATE SET project_id = ?1, kind = ?4, reason = ?5, since_ms = ?6, told_ms = ?7, is_told = ?8`,
    notice.projectId,
    notice.workerId,
    notice.subject,
    notice.kind,
    notice.reason,
    notice.sinceMs,
    notice.toldMs,
    notice.isTold ? 1 : 0,
  );
}

export function deleteNotice(db: Db, workerId: number, subject: StoredNotice["subject"]): void {
  db.run("DELETE FROM notices WHERE worker_id = ? AND subject = ?", workerId, subject);
}

/** Returns the workers about which something other than mail and turns was recorded after an event. */
export function workersChanged(db: Db, after: number): number[] {
  return db
    .all<{ worker_id: number }>(
      `SELECT DISTINCT worker_id FROM events
       WHERE seq > ? AND worker_id IS NOT NULL AND type NOT LIKE 'mail.%' AND type NOT IN ('worker.activity', 'worker.created')`,
      after,
    )
    .map(({ worker_id: id }) => id);
}

/** Returns the workers that may need somebody: those that run, that should, or that something keeps from it. */
export function workersToLookAt(db: Db): number[] {
  return db
    .all<{ id: number }>(
      `SELECT id FROM workers WHERE retired_ms IS NULL
         AND (holder_run IS NOT NULL OR desired = 1 OR on_hold IS NOT NULL OR unresumable IS NOT NULL)`,
    )
    .map(({ id }) => id);
}

/** A sender of mail that the operator has not read. */
export interface UnreadSender {
  projectId: number;
  workerId: number;
  messages: number;
  newest: number;
}

/** Returns the workers whose mail to the operator is unread, in one project or in all. */
export function unreadSenders(db: Db, projectId: number | null): UnreadSender[] {
  return db.all<UnreadSender>(
    `SELECT project_id AS projectId, from_worker AS workerId, count(*) AS messages, max(seq) AS newest FROM messages
     WHERE to_worker IS NULL AND from_worker IS NOT NULL AND state IN ('queued', 'offered', 'injected')
       AND (?1 IS NULL OR project_id = ?1)
     GROUP BY project_id, from_worker`,
    projectId,
  );
}

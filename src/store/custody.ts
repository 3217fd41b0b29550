import type { Db } from "./db.ts";

/** The copy of one file of a conversation, and what the file was when the two were compared. */
export interface FileCopy {
  bytes: number;
  sha256: string;
  sourceBytes: number;
  /** The marks by which a change of the file is known, its times in nanoseconds; empty if not all of it was compared. */
  sourceChanged: string;
}

/** The copy of a conversation, with the one of its first file; those of its later files are asked for apart. */
export interface CustodyCopy extends FileCopy {
  conversationId: number;
  keptMs: number;
  /** The bytes of the copies of all its files. */
  wholeBytes: number;
}

/** The copy of a file in which a conversation goes on. */
export interface LaterCopy extends FileCopy {
  /** The vendor's file; its copy has the same name. */
  file: string;
}

const FILE_COLUMNS = "bytes, sha256, source_bytes AS sourceBytes, source_changed AS sourceChanged";
const LATER_SIZE = "(SELECT sum(later.bytes) FROM custody_later AS later WHERE later.session_id = custody.session_id)";
const COLUMNS = `session_id AS conversationId, kept_ms AS keptMs, ${FILE_COLUMNS},
  bytes + coalesce(${LATER_SIZE}, 0) AS wholeBytes`;

export function custodyOf(db: Db, conversationId: number): CustodyCopy | null {
  return db.one(`SELECT ${COLUMNS} FROM custody WHERE session_id = ?`, conversationId);
}

/** Lists the copies of a conversation's later files, in the order of their names, which is that of their times. */
export function laterCopiesOf(db: Db, conversationId: number): LaterCopy[] {
  return db.all(`SELECT file, ${FILE_COLUMNS} FROM custody_later WHERE session_id = ? ORDER BY file`, conversationId);
}

export function setLaterCopy(db: Db, conversationId: number, { file, ...copy }: LaterCopy): void {
  db.run(
    `INSERT INTO custody_later (session_id, file, bytes, sha256, source_bytes, source_changed) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (session_id, file) DO UPDATE SET bytes = excluded.bytes, sha256 = excluded.sha256,
       source_bytes = excluded.source_bytes, source_changed = excluded.source_changed`,
    conversationId,
    file,
    copy.bytes,
    copy.sha256,
    copy.sourceBytes,
    copy.sourceChanged,
  );
}

export function setCustody(db: Db, row: Omit<CustodyCopy, "wholeBytes">): void {
  db.run(
    `INSERT INTO custody (session_id, bytes, sha256, kept_ms, source_bytes, source_changed) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (session_id) DO UPDATE SET bytes = excluded.bytes, sha256 = excluded.sha256,
       kept_ms = excluded.kept_ms, source_bytes = excluded.source_bytes, source_changed = excluded.source_changed`,
    row.conversationId,
    row.bytes,
    row.sha256,
    row.keptMs,
    row.sourceBytes,
    row.sourceChanged,
  );
}

export function dropCustody(db: Db, conversationId: number): void {
  db.run("DELETE FROM custody WHERE session_id = ?", conversationId);
}

export function custodyIds(db: Db): number[] {
  return db.all<{ session_id: number }>("SELECT session_id FROM custody").map(({ session_id: id }) => id);
}

/**
 * Returns the copies that may be dropped. Candidates belong to conversations that are neither a worker's current one
 * nor in a saved session; dropped are those older than `beforeMs`, then the oldest until all copies fit `bytesMax`.
 */
export function custodyToDrop(db: Db, beforeMs: number, bytesMax: number): number[] {
  const candidates = db.all<{ session_id: number; bytes: number; kept_ms: number }>(
    `SELECT session_id, bytes + coalesce(${LATER_SIZE}, 0) AS bytes, kept_ms FROM custody
     WHERE session_id NOT IN (SELECT session_id FROM workers WHERE session_id IS NOT NULL AND retired_ms IS NULL)
       AND session_id NOT IN (SELECT session_id FROM saved_sessions)
     ORDER BY kept_ms`,
  );
  let excess =
    (db.one<{ bytes: number }>(`SELECT coalesce(sum(bytes + coalesce(${LATER_SIZE}, 0)), 0) AS bytes FROM custody`)
      ?.bytes ?? 0) - bytesMax;
  return candidates.flatMap(({ session_id: id, bytes, kept_ms: at }) => {
    if (at >= beforeMs && excess <= 0) return [];
    excess -= bytes;
    return [id];
  });
}

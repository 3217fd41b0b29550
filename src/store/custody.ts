import type { Db } from "./db.ts";

export interface CustodyCopy {
  conversationId: number;
  bytes: number;
  sha256: string;
  keptMs: number;
  sourceBytes: number;
  /** The modification time of the source in nanoseconds, as text: a number cannot hold it. */
  sourceChanged: string;
}

const COLUMNS = `session_id AS conversationId, bytes, sha256, kept_ms AS keptMs, source_bytes AS sourceBytes,
  source_changed AS sourceChanged`;

export function custodyOf(db: Db, conversationId: number): CustodyCopy | null {
  return db.one(`SELECT ${COLUMNS} FROM custody WHERE session_id = ?`, conversationId);
}

export function setCustody(db: Db, row: CustodyCopy): void {
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
    `SELECT session_id, bytes, kept_ms FROM custody
     WHERE session_id NOT IN (SELECT session_id FROM workers WHERE session_id IS NOT NULL AND retired_ms IS NULL)
       AND session_id NOT IN (SELECT session_id FROM saved_sessions)
     ORDER BY kept_ms`,
  );
  let excess =
    (db.one<{ bytes: number }>("SELECT coalesce(sum(bytes), 0) AS bytes FROM custody")?.bytes ?? 0) - bytesMax;
  return candidates.flatMap(({ session_id: id, bytes, kept_ms: at }) => {
    if (at >= beforeMs && excess <= 0) return [];
    excess -= bytes;
    return [id];
  });
}

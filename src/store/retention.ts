import {
  EPOCHS_KEPT,
  EVENTS_KEPT,
  RETIRED_WORKERS_KEPT,
  RETIRED_WORKERS_KEPT_MS,
  RUNS_KEPT_PER_WORKER,
  SESSIONS_KEPT_PER_WORKER,
  SETTLED_MAIL_KEPT,
  SETTLED_MAIL_KEPT_MS,
  TOMBSTONES_KEPT_PER_PROJECT,
} from "../limits/index.ts";
import type { Db } from "./db.ts";
import { readMeta, writeMeta } from "./meta.ts";

/** Drops rows beyond the bound of each table, but none that a live run or an active worker needs. */
export function dropOldRows(db: Db, nowMs: number): void {
  dropOldEvents(db);
  dropOldRuns(db);
  dropOldEntries(db);
  dropOldSessions(db);
  dropOldTombstones(db);
  dropSettledMail(db, nowMs - SETTLED_MAIL_KEPT_MS);
  dropRetiredWorkers(db, nowMs - RETIRED_WORKERS_KEPT_MS);
  dropOldEpochs(db);
}

function dropOldEvents(db: Db): void {
  db.run("DELETE FROM events WHERE seq <= (SELECT max(seq) FROM events) - ?", EVENTS_KEPT);
}

function dropOldRuns(db: Db): void {
  const old = `SELECT id FROM runs WHERE ended_ms IS NOT NULL AND generation <=
      (SELECT generation FROM workers WHERE workers.id = runs.worker_id) - ?`;
  db.run(`DELETE FROM run_sessions WHERE run_id IN (${old})`, RUNS_KEPT_PER_WORKER);
  db.run(`DELETE FROM turns WHERE run_id IN (${old})`, RUNS_KEPT_PER_WORKER);
  db.run(`DELETE FROM runs WHERE id IN (${old})`, RUNS_KEPT_PER_WORKER);
}

/** Keeps the last conversations of a run that switches between them again and again. */
function dropOldEntries(db: Db): void {
  db.run(
    `DELETE FROM run_sessions WHERE seq <=
      (SELECT max(last.seq) FROM run_sessions AS last WHERE last.run_id = run_sessions.run_id) - ?`,
    SESSIONS_KEPT_PER_WORKER,
  );
}

/** Keeps the newest conversations of each worker, the current one, and those in a saved session. */
function dropOldSessions(db: Db): void {
  const old = `SELECT id FROM (
      SELECT sessions.id, row_number() OVER (PARTITION BY worker_id ORDER BY sessions.id DESC) AS age,
        sessions.id = workers.session_id AS current
      FROM sessions JOIN workers ON workers.id = worker_id) WHERE age > ? AND NOT coalesce(current, 0)
        AND id NOT IN (SELECT session_id FROM saved_sessions)
        AND id NOT IN (SELECT fork_of FROM workers WHERE fork_of IS NOT NULL)`;
  db.run(`DELETE FROM run_sessions WHERE session_id IN (${old})`, SESSIONS_KEPT_PER_WORKER);
  db.run(`DELETE FROM custody WHERE session_id IN (${old})`, SESSIONS_KEPT_PER_WORKER);
  db.run(`DELETE FROM sessions WHERE id IN (${old})`, SESSIONS_KEPT_PER_WORKER);
}

function dropOldTombstones(db: Db): void {
  db.run(
    `DELETE FROM tombstones WHERE (project_id, name_key) IN (
      SELECT project_id, name_key FROM (
        SELECT project_id, name_key, row_number() OVER (PARTITION BY project_id ORDER BY created_ms DESC) AS age
        FROM tombstones) WHERE age > ?)`,
    TOMBSTONES_KEPT_PER_PROJECT,
  );
}

/** Drops mail that was read, answered or given up, and questions that were read long ago and never answered. */
function dropSettledMail(db: Db, beforeMs: number): void {
  const settled = "state NOT IN ('queued', 'offered', 'injected')";
  db.run(`DELETE FROM messages WHERE ${settled} AND changed_ms < ?`, beforeMs);
  db.run(
    `DELETE FROM messages WHERE seq IN
      (SELECT seq FROM messages WHERE ${settled} ORDER BY changed_ms DESC LIMIT -1 OFFSET ?)`,
    SETTLED_MAIL_KEPT,
  );
}

function dropRetiredWorkers(db: Db, beforeMs: number): void {
  const old = `SELECT id FROM workers WHERE retired_ms < ?1 OR id IN
    (SELECT id FROM workers WHERE retired_ms IS NOT NULL ORDER BY retired_ms DESC LIMIT -1 OFFSET ?2)`;
  // There is hardly ever one, and searching for its mail reads the whole table.
  if (db.one(`${old} LIMIT 1`, beforeMs, RETIRED_WORKERS_KEPT) === null) return;
  const theirConversations = `SELECT id FROM sessions WHERE worker_id IN (${old})`;
  db.run(`DELETE FROM run_sessions WHERE session_id IN (${theirConversations})`, beforeMs, RETIRED_WORKERS_KEPT);
  db.run(`DELETE FROM messages WHERE to_worker IN (${old})`, beforeMs, RETIRED_WORKERS_KEPT);
  db.run(`DELETE FROM mailboxes WHERE worker_id IN (${old})`, beforeMs, RETIRED_WORKERS_KEPT);
  db.run(`DELETE FROM custody WHERE session_id IN (${theirConversations})`, beforeMs, RETIRED_WORKERS_KEPT);
  db.run(`DELETE FROM sessions WHERE worker_id IN (${old})`, beforeMs, RETIRED_WORKERS_KEPT);
  db.run(`DELETE FROM turns WHERE worker_id IN (${old})`, beforeMs, RETIRED_WORKERS_KEPT);
  db.run(`DELETE FROM runs WHERE worker_id IN (${old})`, beforeMs, RETIRED_WORKERS_KEPT);
  db.run(`DELETE FROM tombstones WHERE worker_id IN (${old})`, beforeMs, RETIRED_WORKERS_KEPT);
  db.run(`DELETE FROM workers WHERE id IN (${old})`, beforeMs, RETIRED_WORKERS_KEPT);
}

/** Keeps the highest dropped epoch as a floor, so that a run id never repeats. */
function dropOldEpochs(db: Db): void {
  const count = db.one<{ count: number }>("SELECT count(*) AS count FROM epochs")?.count ?? 0;
  if (count <= EPOCHS_KEPT) return;
  const row = db.one<{ last: number }>(
    "SELECT last FROM epochs ORDER BY last LIMIT 1 OFFSET ?",
    count - EPOCHS_KEPT - 1,
  );
  if (row === null) return;
  writeMeta(db, "epoch_floor", Math.max(readMeta(db, "epoch_floor") ?? 0, row.last));
  db.run("DELETE FROM epochs WHERE last <= ?", row.last);
}

import { DatabaseSync } from "node:sqlite";

/** One thing that a store may have few or many of, beside the two workers that the calls are about. */
export interface Axis {
  name: string;
  sizes: readonly number[];
  seed: (file: string, size: number) => void;
}

/** Mail of this many workers of another project shares the messages. */
const MAILBOXES = 10_000;

export const SEEDS: readonly Axis[] = [
  { name: "workers", sizes: [1, 100, 10_000], seed: (file, size) => filled(file, (db) => workers(db, size)) },
  {
    name: "messages",
    sizes: [1_000, 100_000, 1_000_000],
    seed: (file, size) => filled(file, (db) => messages(db, size)),
  },
  { name: "events", sizes: [1_000, 100_000, 1_000_000], seed: (file, size) => filled(file, (db) => events(db, size)) },
  { name: "runs of one name", sizes: [10, 500, 10_000], seed: (file, size) => filled(file, (db) => runs(db, size)) },
];

function filled(file: string, fill: (db: DatabaseSync) => void): void {
  const db = new DatabaseSync(file);
  db.exec("BEGIN");
  db.exec(`INSERT INTO projects (id, slug, slug_key, identity, root, created_ms, uid)
    VALUES (1000, 'crowd', 'crowd', '/crowd', '/crowd', 1, lower(hex(randomblob(16))))`);
  fill(db);
  db.exec("COMMIT");
  db.close();
}

/** The numbers from 1 to the bound parameter. */
const NUMBERS = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1)";

function workers(db: DatabaseSync, count: number): void {
  db.prepare(
    `${NUMBERS} INSERT INTO workers (id, project_id, name, name_key, created_ms, uid)
     SELECT 1000 + n, 1000, 'worker-' || n, 'worker-' || n, 1, lower(hex(randomblob(16))) FROM numbers`,
  ).run(count);
}

/** Messages that nobody has read yet: settled ones are dropped beyond a bound. */
function messages(db: DatabaseSync, count: number): void {
  const boxes = Math.min(count, MAILBOXES);
  workers(db, boxes);
  db.prepare(
    `${NUMBERS} INSERT INTO messages (id, project_id, to_worker, from_name, body, digest, state, created_ms, changed_ms)
     SELECT lower(hex(randomblob(6))) || n, 1000, 1001 + n % ?2, 'operator', printf('%.200c', 'x'), printf('%.64c', 'y'), 'queued', 1, 1
     FROM numbers`,
  ).run(count, boxes);
  db.exec(`INSERT INTO mailboxes SELECT project_id, to_worker, count(*), sum(length(body)) FROM messages
    WHERE project_id = 1000 GROUP BY 1, 2`);
}

function events(db: DatabaseSync, count: number): void {
  db.prepare(
    `${NUMBERS} INSERT INTO events (at_ms, type, project_id, data)
     SELECT 1, 'mail.queued', 1000, '{"id":"m","from":"operator"}' FROM numbers`,
  ).run(count);
}

/** Ended runs of the worker that the calls are about; its generation goes on after them. */
function runs(db: DatabaseSync, count: number): void {
  db.prepare(
    `${NUMBERS} INSERT INTO runs (id, worker_id, generation, kind, token_hash, pid, process_started, boot_id, started_ms, ended_ms, exit, reason)
     SELECT 'h.api.probe.' || (n + 10), workers.id, n + 10, 'run', 'hash-' || n, 1, '1', 'boot', n, n, 0, 'exited'
     FROM numbers, workers WHERE workers.name = 'probe'`,
  ).run(count);
  db.prepare("UPDATE workers SET generation = ? WHERE name = 'probe'").run(count + 10);
}

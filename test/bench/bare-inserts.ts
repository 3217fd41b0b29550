import { DatabaseSync } from "node:sqlite";
import { MIGRATIONS } from "../../src/store/migrations/index.ts";

/** Workers that share a commit, as in one call. */
const PER_COMMIT = 1_000;

/**
 * Inserts a worker with its first message for each name, into the tables of the store and with as many commits as ours, and
 * nothing else: no names are checked, nothing is hashed or parsed. Returns the milliseconds that took.
 */
export function bareInserts(file: string, names: readonly string[]): number {
  const db = new DatabaseSync(file);
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
  for (const migration of MIGRATIONS) db.exec(migration);
  db.exec(
    "INSERT INTO projects (slug, slug_key, identity, root, created_ms, uid) VALUES ('api', 'api', '/api', '/api', 1, lower(hex(randomblob(16))))",
  );
  const inserts = statements(db);
  const since = performance.now();
  for (let at = 0; at < names.length; at += PER_COMMIT) {
    db.exec("BEGIN IMMEDIATE");
    for (const name of names.slice(at, at + PER_COMMIT)) for (const insert of inserts) insert(name);
    db.exec("COMMIT");
  }
  const took = performance.now() - since;
  db.close();
  return took;
}

function statements(db: DatabaseSync): ((name: string) => void)[] {
  const [worker, message, mailbox, event] = [
    db.prepare(
      "INSERT INTO workers (project_id, name, name_key, created_ms, uid) VALUES (1, ?1, ?1, 1, lower(hex(randomblob(16))))",
    ),
    db.prepare(`INSERT INTO messages (id, project_id, to_worker, from_name, body, digest, state, created_ms, changed_ms)
      VALUES ('m-' || ?1, 1, (SELECT id FROM workers WHERE project_id = 1 AND name_key = ?1 AND retired_ms IS NULL),
        'operator', ?2, ?3, 'queued', 1, 1)`),
    db.prepare("INSERT INTO mailboxes SELECT 1, max(id), 1, 200 FROM workers"),
    db.prepare("INSERT INTO events (at_ms, type, project_id, data) VALUES (1, ?, 1, '{}')"),
  ];
  return [
    (name) => worker?.run(name),
    () => event?.run("worker.created"),
    (name) => message?.run(name, "x".repeat(200), "y".repeat(64)),
    () => mailbox?.run(),
    () => event?.run("mail.queued"),
  ];
}

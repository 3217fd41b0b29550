import { DatabaseSync, type StatementSync } from "node:sqlite";
import { sha256 } from "../../../src/util/sha256.ts";
import { MIGRATIONS } from "../../../src/store/migrations/index.ts";

/** Workers that share a commit, as in one call. */
const PER_COMMIT = 1_000;

/**
 * Inserts a worker with its first message for each name, into the tables of the store and with as many commits as ours, and
 * nothing else: no names are checked, nothing is hashed or parsed. With `digests`, each name is looked up and each message digested, and
 * the names and the receipts are written and read as JSON once, as a call to another process has them. Returns the milliseconds that took.
 */
export function bareInserts(file: string, names: readonly string[], digests = false): number {
  const db = new DatabaseSync(file);
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
  for (const migration of MIGRATIONS) db.exec(migration);
  db.exec(
    "INSERT INTO projects (slug, slug_key, identity, root, created_ms, uid) VALUES ('api', 'api', '/api', '/api', 1, lower(hex(randomblob(16))))",
  );
  const inserts = statements(db);
  const lookUp = db.prepare("SELECT id FROM workers WHERE project_id = 1 AND name_key = ? AND retired_ms IS NULL");
  const since = performance.now();
  for (let at = 0; at < names.length; at += PER_COMMIT) {
    const some = digests ? overTheWire(names.slice(at, at + PER_COMMIT)) : names.slice(at, at + PER_COMMIT);
    db.exec("BEGIN IMMEDIATE");
    for (const name of some) {
      if (digests) check(lookUp, name);
      for (const insert of inserts) insert(name);
    }
    db.exec("COMMIT");
    if (digests)
      overTheWire(some.map((name) => ({ id: name, uid: name, to: `api/${name}`, state: "queued", seq: at })));
  }
  const took = performance.now() - since;
  db.close();
  return took;
}

function overTheWire<T>(value: T): T {
  return JSON.parse(Buffer.from(JSON.stringify(value)).toString()) as T;
}

function check(lookUp: StatementSync, name: string): void {
  if (!/^[a-z0-9-]+$/.test(name) || lookUp.get(name) !== undefined) throw new Error(`${name} cannot be registered`);
  sha256(JSON.stringify([name, null, 1, 1, "x".repeat(200), null, false, []]));
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

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  EPOCHS_KEPT,
  EVENTS_KEPT,
  RETIRED_WORKERS_KEPT_MS,
  RUNS_KEPT_PER_WORKER,
  TOMBSTONES_KEPT_PER_PROJECT,
} from "../../src/limits/index.ts";
import { checkStore } from "../../src/store/check.ts";
import { Db } from "../../src/store/db.ts";
import { lastEpoch } from "../../src/store/epochs.ts";
import { readMeta } from "../../src/store/meta.ts";
import { migrate, schemaVersion } from "../../src/store/migrate.ts";
import { MIGRATIONS } from "../../src/store/migrations/index.ts";
import { checkSqlite, closeStore, openStore } from "../../src/store/open.ts";
import { dropOldRows } from "../../src/store/retention.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "perdure-store-"));
  file = join(folder, "perdure.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

test("a store is opened with WAL and full sync, bounded, and closed without leftovers", () => {
  const { db, unclean } = openStore(file);
  expect(unclean).toBe(false);
  expect(db.one("PRAGMA journal_mode")).toEqual({ journal_mode: "wal" });
  expect(db.one("PRAGMA synchronous")).toEqual({ synchronous: 2 });
  expect(db.one("PRAGMA foreign_keys")).toEqual({ foreign_keys: 1 });
  closeStore(db);
  expect(readdirSync(folder)).toEqual(["perdure.db"]);
});

test("a store that was not closed is known to be unclean", () => {
  const first = openStore(file);
  first.db.close();
  const second = openStore(file);
  expect(second.unclean).toBe(true);
  closeStore(second.db);
  const third = openStore(file);
  expect(third.unclean).toBe(false);
  closeStore(third.db);
});

test("migrations are applied once, in order, each with its number", () => {
  const db = new Db(file);
  const first = "CREATE TABLE a (x)";
  migrate(db, [first]);
  migrate(db, [first, "CREATE TABLE b (x)"]);
  migrate(db, [first, "CREATE TABLE b (x)"]);
  expect(schemaVersion(db)).toBe(2);
  db.close();
});

test("a migration that fails half way leaves the version before it, whole", () => {
  const db = new Db(file);
  migrate(db, ["CREATE TABLE a (x)"]);
  expect(() => migrate(db, ["CREATE TABLE a (x)", "CREATE TABLE b (x); CREATE TABLE a (x)"])).toThrow(/already exists/);
  if (db.isTransaction) db.exec("ROLLBACK");
  expect(schemaVersion(db)).toBe(1);
  expect(db.all("SELECT name FROM sqlite_schema")).toEqual([{ name: "a" }]);
  db.close();
});

test("events keep their numbers through the upgrade, and go on after the newest even when older ones are dropped", () => {
  const { db: old } = openStore(file, { migrations: MIGRATIONS.slice(0, 4) });
  const add = (db: Db): number => db.insert("INSERT INTO events (at_ms, type, data) VALUES (1, 'x', '{}')");
  for (let n = 0; n < 5; n++) add(old);
  old.run("DELETE FROM events WHERE seq < 5");
  closeStore(old);
  const { db } = openStore(file);
  expect(db.all("SELECT seq FROM events")).toEqual([{ seq: 5 }]);
  expect(add(db)).toBe(6);
  closeStore(db);
});

test("a newer schema is refused and nothing is changed", () => {
  const { db } = openStore(file, { migrations: [...MIGRATIONS, "CREATE TABLE future (x)"] });
  closeStore(db);
  const before = readFileSync(file);
  expect(() => openStore(file)).toThrow(expect.objectContaining({ code: "version" }));
  expect(readFileSync(file).equals(before)).toBe(true);
});

test("a file that is no store is set aside whole, and an empty one is begun only when asked", () => {
  writeFileSync(file, "not a database, but somebody's bytes ".repeat(200));
  const bytes = readFileSync(file);
  const damaged = expect.objectContaining({
    code: "damaged",
    message: expect.stringContaining("set aside") as string,
  }) as Error;
  expect(() => openStore(file)).toThrow(damaged);
  expect(() => openStore(file)).toThrow(damaged);
  expect(existsSync(file)).toBe(false);
  const [aside = ""] = readdirSync(folder);
  expect(readFileSync(join(folder, aside)).equals(bytes)).toBe(true);
  closeStore(openStore(file, { startEmpty: true }).db);
  expect(readdirSync(folder)).toEqual(["perdure.db", aside]);
});

test("SQLite before 3.51.3 is refused", () => {
  for (const old of ["3.51.2", "3.50.9", "3.9.99", "2.99.99", "0"])
    expect(() => checkSqlite(old)).toThrow(expect.objectContaining({ code: "version" }));
  for (const good of ["3.51.3", "3.51.10", "3.52.0", "4.0.0"]) expect(() => checkSqlite(good)).not.toThrow();
});

test("a check finds nothing in a good store and says what is wrong in a bad one", async () => {
  closeStore(openStore(file).db);
  expect(await checkStore(file, "integrity_check")).toMatchObject({ ok: true, problems: [] });
  const bytes = readFileSync(file);
  bytes.fill(0xa5, 2 * 4096, 4 * 4096);
  writeFileSync(file, bytes);
  const result = await checkStore(file, "quick_check");
  expect(result.ok).toBe(false);
  expect(result.problems.length).toBeGreaterThan(0);
});

test("every table is kept within its bound, and what is in use is never dropped", () => {
  const { db } = openStore(file);
  const now = 10 * RETIRED_WORKERS_KEPT_MS;
  const many = (count: number): string =>
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
  const runs = RUNS_KEPT_PER_WORKER + 10;
  db.exec(`
    INSERT INTO projects (id, slug, slug_key, identity, root, created_ms) VALUES (1, 'api', 'api', '/api', '/api', 0);
    INSERT INTO workers (id, project_id, name, name_key, created_ms, generation) VALUES (1, 1, 'a', 'a', 0, ${runs});
    INSERT INTO workers (id, project_id, name, name_key, created_ms, retired_ms, uid)
      VALUES (2, 1, 'b', 'b', 0, 1, 'b'), (3, 1, 'c', 'c', 0, ${now - 1}, 'c');
    ${many(runs)} INSERT INTO runs (id, worker_id, generation, kind, token_hash, pid, process_started, boot_id, started_ms, ended_ms)
      SELECT 'r' || i, 1, i, 'run', 't' || i, 1, '1', 'b', i, CASE WHEN i = 3 THEN NULL ELSE i END FROM n;
    INSERT INTO runs (id, worker_id, generation, kind, token_hash, pid, process_started, boot_id, started_ms, ended_ms)
      VALUES ('old', 2, 1, 'run', 'old', 1, '1', 'b', 1, 2);
    ${many(TOMBSTONES_KEPT_PER_PROJECT + 10)} INSERT INTO tombstones SELECT 1, 'n' || i, 'n' || i, 1, i FROM n;
    ${many(EVENTS_KEPT + 10)} INSERT INTO events (at_ms, type, data) SELECT i, 'x', '{}' FROM n;
    ${many(EPOCHS_KEPT + 10)} INSERT INTO epochs SELECT 'k' || i, i FROM n;`);

  dropOldRows(db, now);

  const count = (table: string): number => db.one<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)?.n ?? -1;
  expect(db.all("SELECT id FROM workers")).toEqual([{ id: 1 }, { id: 3 }]);
  expect(count("runs")).toBe(RUNS_KEPT_PER_WORKER + 1);
  expect(db.one("SELECT id FROM runs WHERE ended_ms IS NULL")).toEqual({ id: "r3" });
  expect(count("tombstones")).toBe(TOMBSTONES_KEPT_PER_PROJECT);
  expect(count("events")).toBe(EVENTS_KEPT);
  expect(count("epochs")).toBe(EPOCHS_KEPT);
  expect(readMeta(db, "epoch_floor")).toBe(10);
  expect([lastEpoch(db, "k10"), lastEpoch(db, "k11")]).toEqual([null, 11]);
  closeStore(db);
});

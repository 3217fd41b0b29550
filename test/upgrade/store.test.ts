import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Db } from "../../src/store/db.ts";
import { storeUid } from "../../src/store/meta.ts";
import { schemaVersion } from "../../src/store/migrate.ts";
import { MIGRATIONS } from "../../src/store/migrations/index.ts";
import { closeStore, openStore } from "../../src/store/open.ts";
import { listOf } from "./old-workers.ts";
import { differences, type Json } from "./snapshot.ts";

const RECORDED = readFileSync(resolve(import.meta.dirname, "fixtures/store-0.1.sql"), "utf8");

/** Every table of 0.1. */
const TABLES =
  listOf(`meta projects workers tombstones runs epochs events sessions run_sessions custody saved saved_sessions
  messages message_steps mailboxes trusted`);

/** Columns in which several values lie as JSON. */
const JSON_COLUMNS = new Set(["held", "keeping"]);

describe("a store that the version before was killed over", () => {
  let folder: string;
  let file: string;
  let before: Record<string, Json[]>;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "perdure-recorded-"));
    file = join(folder, "perdure.db");
    const recorded = new DatabaseSync(file);
    recorded.exec(RECORDED);
    before = rowsOf((sql) => recorded.prepare(sql).all());
    recorded.close();
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("has something of every kind in it", () => {
    expect(TABLES.filter((table) => before[table]?.length === 0)).toEqual([]);
    expect(valuesOf("workers", "lease_phase")).toEqual(new Set(["free", "held", "displacing"]));
    expect(valuesOf("runs", "kind")).toEqual(new Set(["run", "client"]));
    expect(valuesOf("messages", "state")).toEqual(
      new Set(listOf("queued offered injected read answered expired cancelled superseded dead")),
    );
    expect(valuesOf("sessions", "provenance")).toEqual(new Set(["assigned", "minted", "rotated"]));
    const why = before.workers?.map((worker) => fieldOf(fieldOf(worker, "held"), "state"));
    expect(new Set(why)).toEqual(new Set([null, "held", "crash-looping"]));
  });

  it("is opened as the version it was, known to be unclean, and is whole in the newest schema", () => {
    const recorded = new DatabaseSync(file, { readOnly: true });
    expect(recorded.prepare("PRAGMA user_version").get()).toEqual({ user_version: 6 });
    recorded.close();
    const { db, unclean } = openStore(file, { namesKnown: true });
    expect(unclean).toBe(true);
    expect(schemaVersion(db)).toBe(MIGRATIONS.length);
    expect(db.all("PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
    expect(db.all("PRAGMA foreign_key_check")).toEqual([]);
    const upgraded = schemaOf(db);
    closeStore(db);

    const fresh = openStore(join(folder, "fresh.db"));
    expect(upgraded).toEqual(schemaOf(fresh.db));
    closeStore(fresh.db);
  });

  it("keeps every row, and every value but those that have another word now", () => {
    const { db } = openStore(file);
    const { meta = [], ...rest } = rowsOf((sql) => db.all(sql));
    const isNew = (row: Json): boolean => ["uid", "environments_inside"].some((key) => fieldOf(row, "key") === key);
    const after: Record<string, Json[]> = { ...rest, meta: meta.filter((row) => !isNew(row)) };
    closeStore(db);
    expect(TABLES.flatMap((table) => differences(before[table] ?? [], after[table], table))).toEqual([]);
  });

  it("gives every project, every worker and the store itself an id that no other machine gives out", () => {
    const { db } = openStore(file);
    const uids = [
      ...db.all<{ uid: string }>("SELECT uid FROM projects"),
      ...db.all<{ uid: string }>("SELECT uid FROM workers"),
      { uid: storeUid(db) },
    ].map(({ uid }) => uid);
    closeStore(db);
    expect(uids).toHaveLength((before.projects?.length ?? 0) + (before.workers?.length ?? 0) + 1);
    expect(new Set(uids).size).toBe(uids.length);
    expect(uids.filter((uid) => !/^[0-9a-f]{32}$/.test(uid))).toEqual([]);
  });

  it("is upgraded once: opened again, it stays as it is", () => {
    closeStore(openStore(file).db);
    const first = openStore(file);
    const once = [schemaOf(first.db), rowsOf((sql) => first.db.all(sql))];
    closeStore(first.db);
    const second = openStore(file);
    expect([schemaOf(second.db), rowsOf((sql) => second.db.all(sql))]).toEqual(once);
    closeStore(second.db);
  });

  function valuesOf(table: string, column: string): Set<Json> {
    return new Set(before[table]?.map((row) => fieldOf(row, column)));
  }
});

/** Columns that have another name now, by that name: what they were called in 0.1. */
const FORMER_COLUMNS: Readonly<Record<string, string>> = {
  on_hold: "held",
  fleet_settings: "keeping",
  started_by: "supervisor_id",
};

/** All rows of the tables of 0.1, in the order of their keys. */
function rowsOf(all: (sql: string) => object[]): Record<string, Json[]> {
  return Object.fromEntries(TABLES.map((table) => [table, all(`SELECT * FROM ${table} ORDER BY 1, 2`).map(readable)]));
}

function readable(row: object): Json {
  const values = Object.entries(row).map(([name, value]: [string, Json]) => {
    const column = FORMER_COLUMNS[name] ?? name;
    const isJson = JSON_COLUMNS.has(column) && typeof value === "string";
    return [column, isJson ? (JSON.parse(value) as Json) : value];
  });
  return Object.fromEntries(values) as Json;
}

function fieldOf(row: Json, field: string): Json {
  return row === null ? null : ((row as Record<string, Json>)[field] ?? null);
}

/** Without SQLite's own tables. */
function schemaOf(db: Db): object[] {
  return db.all("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name");
}

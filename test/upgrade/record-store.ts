// Records a store of the old version as a fixture, test/upgrade/fixtures/store-0.1.sql: all its workers, as a real daemon of that
// version wrote it and left it when it was killed. Run it once per released version, after scripts/record-version.js has kept
// that version's program and old-workers.ts starts it:
//
//   node test/upgrade/record-store.ts
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { newUpgradeHome, startOldWorkers } from "./old-workers.ts";
import type { UpgradeHome } from "./upgrade-home.ts";

const FIXTURE = resolve(import.meta.dirname, "fixtures/store-0.1.sql");

if (existsSync(FIXTURE)) {
  console.error(`${FIXTURE} is there already: a version is recorded once.\n  → to record it anew, remove it first`);
  process.exit(5);
}
const recorded = newUpgradeHome();
try {
  await startOldWorkers(recorded);
  await displace(recorded);
  await recorded.killDaemon();
  const sql = anonymous(dump(copyOf(recorded)));
  writeFileSync(FIXTURE, `-- A store of perdure 0.1, kept by test/upgrade/record-store.ts.\n${sql}`);
  console.log(FIXTURE);
} finally {
  await recorded.clear();
}
process.exit(0); // what the killed clients have asked is never answered

/** Leaves a takeover half done: its worker ignores the first signal, and the second one is a minute away. */
async function displace(home: UpgradeHome): Promise<void> {
  const script = "trap '' TERM; echo deaf; while :; do sleep 0.2; done";
  const { child } = await home.start("deaf", ["sh", "-c", script]);
  if (child.stdout) await once(child.stdout, "data");
  home.spawn(["takeover", "deaf", "--kill-after", "60"]);
  await home.until("deaf", ({ state }) => state === "displaced");
}

/** Opens a copy of the store, with its log, that no other process opens. */
function copyOf(home: UpgradeHome): DatabaseSync {
  const folder = join(home.dir, "copy");
  mkdirSync(folder);
  for (const suffix of ["", "-wal"])
    cpSync(join(home.state, `perdure.db${suffix}`), join(folder, `perdure.db${suffix}`));
  return new DatabaseSync(join(folder, "perdure.db"));
}

/** Dumps the store as SQL, in one transaction: tables, their rows in the order of their keys, then indexes. */
function dump(database: DatabaseSync): string {
  const made = database
    .prepare(
      "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
    )
    .all();
  const [tables, others] = [made.filter(({ type }) => type === "table"), made.filter(({ type }) => type !== "table")];
  const rows = tables.flatMap(({ name }) => {
    const found = database.prepare(`SELECT * FROM ${String(name)} ORDER BY 1, 2`).all();
    return found.map((row) => `INSERT INTO ${String(name)} VALUES (${Object.values(row).map(literal).join(", ")})`);
  });
  const { user_version: version } = database.prepare("PRAGMA user_version").get() ?? {};
  const content = [`PRAGMA user_version = ${String(version)}`, ...tables.map(sqlOf), ...rows, ...others.map(sqlOf)];
  return ["BEGIN", ...content, "COMMIT"].map((statement) => `${statement};\n`).join("");
}

function sqlOf({ sql }: Record<string, SQLOutputValue>): string {
  return String(sql);
}

function literal(value: SQLOutputValue): string {
  if (value === null) return "NULL";
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
  throw new Error("there are no blobs in a store");
}

/** Replaces the paths of this machine: its PATH and the temporary home. */
function anonymous(sql: string): string {
  return sql
    .replaceAll(process.env.PATH ?? "/usr/bin:/bin", "/usr/bin:/bin")
    .replaceAll(recorded.dir, "/home/somebody");
}

import { existsSync, readdirSync, renameSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { WAL_BYTES_KEPT, WAL_PAGES_MAX } from "../limits/index.ts";
import { PerdureError } from "../protocol/errors.ts";
import { Db } from "./db.ts";
import { failureError, failureKind } from "./failure.ts";
import { readMeta, writeMeta } from "./meta.ts";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./migrations/index.ts";

/** Older versions of SQLite can lose committed data when a WAL is reset at the wrong moment. */
const SQLITE_OLDEST = "3.51.3";
const DAMAGED_SUFFIX = ".damaged-";

export interface OpenedStore {
  db: Db;
  /** Whether the last daemon ended without closing the store, which is then checked while serving. */
  unclean: boolean;
}

export interface OpenOptions {
  migrations?: readonly string[];
  /** The operator asked for an empty store after a damaged one was set aside. */
  startEmpty?: boolean;
  /** Another file says that names exist, so a store that is empty or missing was damaged. */
  namesKnown?: boolean;
}

export function openStore(file: string, options: OpenOptions = {}): OpenedStore {
  checkSqlite(process.versions.sqlite ?? "0");
  if (!options.startEmpty) refuseSilentEmptyStore(file, options.namesKnown ?? false);
  let db: Db | undefined;
  try {
    db = new Db(file);
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
      PRAGMA wal_autocheckpoint = ${WAL_PAGES_MAX}; PRAGMA journal_size_limit = ${WAL_BYTES_KEPT};
      PRAGMA temp_store = MEMORY; PRAGMA cache_size = -2000;`);
    checkpointLeftoverLog(db);
    migrate(db, options.migrations ?? MIGRATIONS);
    return { db, unclean: markInUse(db) };
  } catch (error) {
    db?.close();
    const kind = failureKind(error);
    if (kind === "damaged") throw setAside(file, error);
    throw kind === null ? error : failureError(kind, error);
  }
}

/**
 * Empties a log that a killed daemon left into the store before anything is appended. After a failed sync the kernel may
 * consider pages of the log written that are not: data appended behind them would be lost with them at a power failure.
 */
function checkpointLeftoverLog(db: Db): void {
  ignoringDiskFull(() => db.exec("PRAGMA wal_checkpoint(TRUNCATE)"));
}

/** Marks the store as in use; returns whether the last daemon ended without closing it. */
function markInUse(db: Db): boolean {
  const unclean = readMeta(db, "clean") === 0;
  ignoringDiskFull(() => writeMeta(db, "clean", 0));
  return unclean;
}

/** Runs a statement that a full disk may refuse: the store can still be read then. */
function ignoringDiskFull(statement: () => void): void {
  try {
    statement();
  } catch (error) {
    if (failureKind(error) !== "disk-full") throw error;
  }
}

export function closeStore(db: Db): void {
  writeMeta(db, "clean", 1);
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
}

/** Moves a damaged store out of the way as a whole and returns the error that says where it is; it is never deleted. */
export function setAside(file: string, cause: unknown): PerdureError {
  const damagedFile = `${file}${DAMAGED_SUFFIX}${new Date().toISOString().replace(/[:.]/g, "-")}`;
  for (const suffix of ["", "-wal", "-shm"]) {
    if (existsSync(file + suffix)) renameSync(file + suffix, damagedFile + suffix);
  }
  return damagedError(damagedFile, cause);
}

/** Throws if an empty store would silently replace a damaged or missing one, which would lose every name. */
function refuseSilentEmptyStore(file: string, namesKnown: boolean): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats !== undefined && stats.size > 0) return;
  const damagedFile = stats === undefined ? damagedFiles(file).at(-1) : undefined;
  if (damagedFile !== undefined) throw damagedError(damagedFile, undefined);
  if (namesKnown) throw stats === undefined ? missingStoreError(file) : setAside(file, undefined);
}

function damagedFiles(file: string): string[] {
  const folder = dirname(file);
  const prefix = basename(file) + DAMAGED_SUFFIX;
  if (!existsSync(folder)) return [];
  const found = readdirSync(folder).filter((name) => name.startsWith(prefix) && !/-(wal|shm)$/.test(name));
  return found.toSorted().map((name) => join(folder, name));
}

function missingStoreError(file: string): PerdureError {
  return new PerdureError("damaged", `The store is missing: ${file} does not exist, but names are registered.`, {
    hint: RECOVERY_HINT,
  });
}

const RECOVERY_HINT =
  "restore a backup: perdure daemon start --restore FILE; or start empty: perdure daemon start --new-store";

function damagedError(damagedFile: string, cause: unknown): PerdureError {
  return new PerdureError("damaged", `The store is damaged. It was set aside as ${damagedFile}; nothing was deleted.`, {
    hint: RECOVERY_HINT,
    cause,
  });
}

export function checkSqlite(version: string): void {
  if (!isOlder(version, SQLITE_OLDEST)) return;
  throw new PerdureError(
    "version",
    `SQLite ${version} can lose committed data; perdure needs ${SQLITE_OLDEST} or newer.`,
    {
      hint: "use Node 24.15 or newer",
    },
  );
}

function isOlder(version: string, than: string): boolean {
  const a = version.split(".").map(Number);
  const b = than.split(".").map(Number);
  for (let i = 0; i < b.length; i++) {
    if ((a[i] ?? 0) !== (b[i] ?? 0)) return (a[i] ?? 0) < (b[i] ?? 0);
  }
  return false;
}

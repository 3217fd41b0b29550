import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { WAL_BYTES_KEPT, WAL_PAGES_MAX } from "../limits/index.ts";
import { PerdureError } from "../protocol/errors.ts";
import { hintOf, verb } from "../protocol/hint.ts";
import { Db } from "./db.ts";
import { failureError, failureKind, ignoringDiskFull } from "./failure.ts";
import { readMeta, writeMeta } from "./meta.ts";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./migrations/index.ts";
import { MOVED_SUFFIX, RESCUED_SUFFIX } from "./rescue.ts";
import { howToStop, type LiveRuns } from "./restore-backup.ts";
import { shellWords } from "../util/shell-quote.ts";

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
  /** The runs of this state folder that are alive, whatever its store says; asked for only if there is no store. */
  liveRuns?: () => LiveRuns;
}

export function openStore(file: string, options: OpenOptions = {}): OpenedStore {
  checkSqlite(process.versions.sqlite ?? "0");
  if (!options.startEmpty) refuseSilentEmptyStore(file, options);
  let db: Db | undefined;
  try {
    db = new Db(file);
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
      PRAGMA wal_autocheckpoint = ${WAL_PAGES_MAX}; PRAGMA journal_size_limit = ${WAL_BYTES_KEPT};
      PRAGMA temp_store = MEMORY; PRAGMA cache_size = -2000;`);
    checkpointLeftoverLog(db);
    migrate(db, options.migrations ?? MIGRATIONS);
    settleNotes(file);
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
function refuseSilentEmptyStore(file: string, { namesKnown, liveRuns }: OpenOptions): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats !== undefined && stats.size > 0) return;
  const movedTo = storeMovedTo(file);
  if (movedTo !== null) throw movedError(file, movedTo);
  const rescuedFile = keptFiles(file, RESCUED_SUFFIX).at(-1);
  if (rescuedFile !== undefined) throw rescuedError(rescuedFile);
  const damagedFile = stats === undefined ? keptFiles(file, DAMAGED_SUFFIX).at(-1) : undefined;
  if (damagedFile !== undefined) throw damagedError(damagedFile, undefined);
  if (namesKnown) throw stats === undefined ? missingStoreError(file) : setAside(file, undefined);
  const live = liveRuns?.();
  if (live !== undefined && live.size > 0) throw forgottenRunsError(file, live);
}

/** Takes the notes of earlier losses out of the way: of the next one they would tell a wrong story. What was saved is kept. */
function settleNotes(file: string): void {
  for (const note of keptFiles(file, MOVED_SUFFIX)) rmSync(note);
  for (const saved of keptFiles(file, RESCUED_SUFFIX)) {
    renameSync(saved, saved.replace(RESCUED_SUFFIX, `.old${RESCUED_SUFFIX}`));
  }
}

/** Returns where the store was moved to under a living daemon; null once nothing is there any more. */
function storeMovedTo(file: string): string | null {
  const note = keptFiles(file, MOVED_SUFFIX).at(-1);
  const to = note === undefined ? null : readFileSync(note, "utf8");
  return to !== null && existsSync(to) ? to : null;
}

/** Returns the files of earlier stores that were kept under such a name, the oldest first. */
function keptFiles(file: string, suffix: string): string[] {
  const folder = dirname(file);
  const prefix = basename(file) + suffix;
  if (!existsSync(folder)) return [];
  const found = readdirSync(folder).filter(
    (name) => name.startsWith(prefix) && !/(-(wal|shm)|\.partial(-journal)?)$/.test(name),
  );
  return found.toSorted().map((name) => join(folder, name));
}

function missingStoreError(file: string): PerdureError {
  return new PerdureError("damaged", `The store is missing: ${file} does not exist, but names are registered.`, {
    hint: RECOVERY_HINT,
  });
}

/** The workers live on without a store, and an empty one would give their names away. */
function forgottenRunsError(file: string, live: LiveRuns): PerdureError {
  const runs = [...live.keys()].join(", ");
  return new PerdureError(
    "damaged",
    `The store is missing: ${file} does not exist, but these workers of it are running: ${runs}.`,
    {
      hint: hintOf`put the state folder back, or restore a backup: ${verb("daemon", "start", "--restore", "FILE")}; or stop them: ${howToStop(live)}`,
    },
  );
}

function movedError(file: string, to: string): PerdureError {
  const [folder, from] = [dirname(file), dirname(to)];
  const back =
    folder === from || basename(to) !== basename(file)
      ? shellWords(["mv", to, file])
      : `${shellWords(["rm", "-r", folder])} && ${shellWords(["mv", from, folder])}`;
  return new PerdureError("damaged", `The store was moved to ${to} while the daemon was running.`, {
    hint: hintOf`move it back: ${back}; or start empty: ${verb("daemon", "start", "--new-store")}`,
  });
}

function rescuedError(rescuedFile: string): PerdureError {
  const message = `The store was removed while the daemon was running. Its contents were saved as ${rescuedFile}.`;
  return new PerdureError("damaged", message, {
    hint: hintOf`${verb("daemon", "start", "--restore", rescuedFile)}; or start empty: ${verb("daemon", "start", "--new-store")}`,
  });
}

const RECOVERY_HINT = hintOf`restore a backup: ${verb("daemon", "start", "--restore", "FILE")}; or start empty: ${verb("daemon", "start", "--new-store")}`;

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

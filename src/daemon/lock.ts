import { truncateSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

export interface Lock {
  release(): void;
}

/**
 * One daemon per state dir. Node has no flock, but SQLite's exclusive transaction is a lock of the kernel: it goes
 * with the process however that ends, so there is no stale lock to clean up and no moment of doubt.
 */
export function takeLock(file: string): Lock | null {
  const database = openLock(file);
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return { release: () => database.close() };
  } catch (error) {
    database.close();
    if (isCode(error, SQLITE_BUSY)) return null;
    if (!isCode(error, SQLITE_NOTADB)) throw error;
    // Garbage, so nobody holds it. Emptied, not removed: a faster starter may have locked this very file meanwhile, and
    // a new file beside it would be a second lock.
    truncateSync(file);
    return takeLock(file);
  }
}

const SQLITE_BUSY = 5;
const SQLITE_NOTADB = 26;

function openLock(file: string): DatabaseSync {
  return new DatabaseSync(file, { timeout: 0 });
}

function isCode(error: unknown, code: number): boolean {
  return error instanceof Error && "errcode" in error && (Number(error.errcode) & 0xff) === code;
}

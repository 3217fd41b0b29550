import { truncateSync } from "node:fs";
import { connect } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { DAEMON_LOCK_POLL_MS, DAEMON_LOCK_WAIT_MS, SERVICE_LOCK_POLL_MS } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";

export interface Lock {
  release(): void;
}

/** Takes the lock, or returns null when another daemon serves. Waits for a daemon that is starting or stopping. */
export async function lockOrYield(file: string, socket: string): Promise<Lock | null> {
  for (let waited = 0; ; waited += DAEMON_LOCK_POLL_MS) {
    const lock = takeLock(file);
    if (lock) return lock;
    if (await isAnswering(socket)) return null;
    if (waited > DAEMON_LOCK_WAIT_MS) {
      throw new PerdureError("unavailable", `Another daemon holds ${file} but does not answer.`, {
        hint: "perdure doctor",
      });
    }
    await sleep(DAEMON_LOCK_POLL_MS);
  }
}

/** Waits, as a service does, until the daemon that serves now exits because nothing needs it. */
export async function waitForLock(file: string): Promise<Lock> {
  for (;;) {
    const lock = takeLock(file);
    if (lock) return lock;
    await sleep(SERVICE_LOCK_POLL_MS);
  }
}

function isAnswering(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(socket);
    probe.once("connect", () => resolve(true)).once("error", () => resolve(false));
    probe.once("connect", () => probe.destroy());
  });
}

/**
 * Takes the lock that allows one daemon per state folder. Node has no flock, but SQLite's exclusive transaction is a lock of
 * the kernel: it ends with the process, however that ends, so a stale lock cannot exist.
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
    // A file with garbage is held by nobody. It is truncated, not removed: another starter may have locked this very file
    // meanwhile, and a new file beside it would be a second lock.
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

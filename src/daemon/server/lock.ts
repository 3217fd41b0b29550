import { existsSync, truncateSync } from "node:fs";
import { connect } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { DAEMON_LOCK_POLL_MS, DAEMON_LOCK_WAIT_MS, SERVICE_LOCK_POLL_MS } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { hintOf, verb } from "../../protocol/hint.ts";
import { findDaemons, processTable, type ProcessInfo } from "../../runtime/process/index.ts";
import { fileIdentity, readIfThere } from "../../state/files.ts";
import { parseObject } from "../../util/fields.ts";
import type { StatePaths } from "../../state/paths.ts";

export interface Lock {
  release(): void;
  /** Tells whether the locked file is still the one at its path: else another daemon could lock another file there. */
  isInPlace(): boolean;
  /** Locks the file that is at the path now, instead; returns false if somebody else has locked it. */
  retake(): boolean;
}

/** Takes the lock, or returns null when another daemon serves. Waits for a daemon that is starting or stopping. */
export async function lockOrYield(file: string, socket: string): Promise<Lock | null> {
  for (let waited = 0; ; waited += DAEMON_LOCK_POLL_MS) {
    const lock = takeLock(file);
    if (lock) return lock;
    if (await isAnswering(socket)) return null;
    if (waited > DAEMON_LOCK_WAIT_MS) {
      throw new PerdureError("unavailable", `Another daemon holds ${file} but does not answer.`, {
        hint: hintOf`${verb("daemon", "stop")} (workers keep running), then try again`,
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

/**
 * Waits until no other daemon has the store of this state folder open. The lock alone does not tell: where its file was removed
 * under a living daemon, this daemon has locked another one. The living daemon notices that, too, and leaves.
 */
export async function waitForPredecessor(paths: StatePaths): Promise<void> {
  for (let waited = 0; ; waited += SERVICE_LOCK_POLL_MS / 10) {
    const [other] = othersOf(paths);
    if (other === undefined) return;
    if (waited > DAEMON_LOCK_WAIT_MS) {
      const message = `Another daemon (pid ${other.pid}) has the store of ${paths.dir} open, and does not exit.`;
      throw new PerdureError("unavailable", message, {
        hint: hintOf`${verb("daemon", "stop")} (workers keep running), then try again`,
      });
    }
    await sleep(SERVICE_LOCK_POLL_MS / 10);
  }
}

/** Tells whether an earlier daemon may still be there: there is no lock yet, or daemon.json names a process that lives. */
export function mayHavePredecessor(paths: StatePaths): boolean {
  const { pid } = parseObject(readIfThere(paths.daemonFile) ?? "") ?? {};
  return !existsSync(paths.lock) || (typeof pid === "number" && processTable().inspect(pid) !== null);
}

function othersOf(paths: StatePaths): ProcessInfo[] {
  return findDaemons(processTable(), paths).filter(({ pid }) => pid !== process.pid);
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
  const database = lockedDatabase(file);
  if (database === null) return null;
  let held = { database, identity: fileIdentity(file) };
  return {
    release: () => held.database.close(),
    isInPlace: () => held.identity !== null && fileIdentity(file) === held.identity,
    retake() {
      const next = lockedDatabase(file);
      if (next === null) return false;
      held.database.close();
      held = { database: next, identity: fileIdentity(file) };
      return true;
    },
  };
}

function lockedDatabase(file: string): DatabaseSync | null {
  const database = openLock(file);
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return database;
  } catch (error) {
    database.close();
    if (isCode(error, SQLITE_BUSY)) return null;
    if (!isCode(error, SQLITE_NOTADB)) throw error;
    // A file with garbage is held by nobody. It is truncated, not removed: another starter may have locked this very file
    // meanwhile, and a new file beside it would be a second lock.
    truncateSync(file);
    return lockedDatabase(file);
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

import { basename } from "node:path";
import { isPerdureError } from "../../protocol/errors.ts";
import { stateFolder, type StatePaths } from "../../state/paths.ts";
import type { ProcessInfo, ProcessTable } from "./types.ts";

const DAEMON_PROGRAM = "daemon.cjs";
/** The words that Linux appends to the path of an open file that was removed. */
const DELETED = " (deleted)";

/**
 * Finds the daemons that have the store of a state folder open, whether or not anybody can reach them: a daemon's socket, lock and
 * pid file may have been removed. A daemon is known by its program and by the state folder of its environment; one that only
 * waits for the lock has no store open. What a daemon starts looks like it for an instant, until it has become its program.
 */
export function findDaemons(table: ProcessTable, { dir, database }: StatePaths): ProcessInfo[] {
  const programs = table.commandLines().filter(({ argv }) => argv.some((word) => basename(word) === DAEMON_PROGRAM));
  const found = programs.flatMap(({ pid }) => {
    const info = table.inspect(pid);
    return info !== null && isDaemonOf(table, pid, dir, basename(database)) ? [info] : [];
  });
  const pids = new Set(found.map(({ pid }) => pid));
  return found.filter(({ parentPid }) => !pids.has(parentPid));
}

/** Tells whether the same process still is a daemon of the folder: the check before a signal. */
export function isStillDaemon(table: ProcessTable, paths: StatePaths, found: ProcessInfo): boolean {
  return findDaemons(table, paths).some(({ pid, startedAt }) => pid === found.pid && startedAt === found.startedAt);
}

function isDaemonOf(table: ProcessTable, pid: number, dir: string, store: string): boolean {
  const env = Object.fromEntries(
    ["HOME", "PERDURE_HOME", "XDG_STATE_HOME"].map((name) => [name, table.variable(pid, name) ?? undefined]),
  );
  return stateFolderOf(env) === dir && table.openFiles(pid).some((file) => isStoreFile(file, store));
}

/** A file that was moved has another name by now; SQLite's log beside it was seldom moved to another name, too. */
function isStoreFile(file: string, store: string): boolean {
  const name = basename(file.endsWith(DELETED) ? file.slice(0, -DELETED.length) : file);
  return name.startsWith(store);
}

function stateFolderOf(env: Record<string, string | undefined>): string | null {
  try {
    return stateFolder(env);
  } catch (error) {
    if (isPerdureError(error)) return null; // a relative path: no daemon starts with it
    throw error;
  }
}

import { closeSync, copyFileSync, existsSync, fsyncSync, openSync, renameSync, statSync } from "node:fs";
import { PerdureError } from "../protocol/errors.ts";
import { verb } from "../protocol/hint.ts";
import { Db } from "./db.ts";
import { unendedRuns } from "./runs.ts";

/** The pids of each live run, by run id. */
export type LiveRuns = ReadonlyMap<string, readonly number[]>;

/** Replaces the store with a backup and keeps the previous one beside it. The caller holds the daemon's lock. */
export function restoreStore(backup: string, file: string, live: LiveRuns): void {
  refuseUnknownRuns(live, runsIn(backup), "the backup");
  const incoming = `${file}.restoring`;
  copyFileSync(backup, incoming);
  syncFile(incoming);
  const previous = `${file}.before-restore-${new Date().toISOString().replace(/[:.]/g, "-")}`;
  for (const suffix of ["-wal", "-shm", ""]) {
    if (existsSync(file + suffix)) renameSync(file + suffix, previous + suffix);
  }
  renameSync(incoming, file);
}

/** Throws if a live run is missing from the store, which would give the run's name to a second owner. */
export function refuseUnknownRuns(live: LiveRuns, known: ReadonlySet<string>, store: string): void {
  const unknown = [...live].filter(([run]) => !known.has(run));
  if (unknown.length === 0) return;
  const runs = unknown.map(([run]) => run).join(", ");
  throw new PerdureError("conflict", `These running workers are missing from ${store}: ${runs}.`, {
    hint: `stop them first: ${howToStop(new Map(unknown))}`,
  });
}

/** Says how to stop runs: by their pids, or where they are if no pid of them is seen here. */
export function howToStop(live: LiveRuns): string {
  const pids = [...live.values()].flat().join(" ");
  return pids === "" ? "in the container that they run in" : `kill ${pids}`;
}

function syncFile(file: string): void {
  const fd = openSync(file, "r+");
  fsyncSync(fd);
  closeSync(fd);
}

/** Returns the runs that had not ended when the backup was made. */
function runsIn(backup: string): Set<string> {
  if (!existsSync(backup)) {
    throw new PerdureError("not-found", `${backup} does not exist.`, {
      hint: verb("daemon", "start", "--restore", "FILE"),
    });
  }
  // Opening a fifo would wait for its writer.
  if (!statSync(backup).isFile()) throw notABackup(backup);
  try {
    const db = new Db(backup, { readOnly: true });
    const runs = new Set(unendedRuns(db).map(({ id }) => id));
    db.close();
    return runs;
  } catch (cause) {
    throw notABackup(backup, cause);
  }
}

function notABackup(backup: string, cause?: unknown): PerdureError {
  return new PerdureError("usage", `${backup} is not a backup of a store.`, {
    hint: verb("daemon", "start", "--restore", "FILE"),
    cause,
  });
}

import { closeSync, copyFileSync, existsSync, fsyncSync, openSync, renameSync, statSync } from "node:fs";
import { PerdureError } from "../protocol/errors.ts";
import { verb } from "../protocol/hint.ts";
import { Db } from "./db.ts";
import { unendedRuns } from "./runs.ts";

/** The pids of each live run, by run id. */
export type LiveRuns = ReadonlyMap<string, readonly number[]>;

/**
 * Replaces the store with a backup and keeps the previous one beside it; returns the workers that have run since the backup, which is
 * null if the previous store cannot tell. The caller holds the daemon's lock.
 */
export function restoreStore(backup: string, file: string, live: LiveRuns): string[] | null {
  refuseUnknownRuns(live, runsIn(backup), "the backup");
  const incoming = `${file}.restoring`;
  copyFileSync(backup, incoming);
  syncFile(incoming);
  const previous = `${file}.before-restore-${new Date().toISOString().replace(/[:.]/g, "-")}`;
  for (const suffix of ["-wal", "-shm", ""]) {
    if (existsSync(file + suffix)) renameSync(file + suffix, previous + suffix);
  }
  renameSync(incoming, file);
  return ranSince(generationsIn(previous), generationsIn(backup));
}

/** Returns the workers whose generation has risen from one store to the other, and those that are in the later one only. */
function ranSince(later: Generations | null, earlier: Generations | null): string[] | null {
  if (later === null || earlier === null) return null;
  return [...later]
    .filter(([address, generation]) => generation > (earlier.get(address) ?? 0))
    .map(([address]) => address);
}

/** The generation of each worker, by its address. */
type Generations = ReadonlyMap<string, number>;

/** Returns null for a store that is not there or cannot be read, as a damaged one. */
function generationsIn(file: string): Generations | null {
  if (!existsSync(file)) return null;
  try {
    const db = new Db(file, { readOnly: true });
    const rows = db.all<{ address: string; generation: number }>(
      `SELECT projects.slug || '/' || workers.name AS address, workers.generation FROM workers
       JOIN projects ON projects.id = workers.project_id WHERE workers.retired_ms IS NULL AND workers.generation > 0`,
    );
    db.close();
    return new Map(rows.map(({ address, generation }) => [address, generation]));
  } catch (error) {
    // What SQLite cannot read tells nothing; the backup is in place already.
    if (error instanceof Error && "errcode" in error) return null;
    throw error;
  }
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

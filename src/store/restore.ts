import { closeSync, copyFileSync, existsSync, fsyncSync, openSync, renameSync } from "node:fs";
import { PerdureError } from "../protocol/errors.ts";
import { Db } from "./db.ts";
import { unendedRuns } from "./runs.ts";

/** The pids of each run that lives, by run. */
export type LiveRuns = ReadonlyMap<string, readonly number[]>;

/** Puts a backup in the store's place; what was there is kept beside it. Only with the daemon's lock held. */
export function restoreStore(backup: string, file: string, live: LiveRuns): void {
  refuseUnknownRuns(live, runsIn(backup));
  const incoming = `${file}.restoring`;
  copyFileSync(backup, incoming);
  syncFile(incoming);
  const previous = `${file}.before-restore-${new Date().toISOString().replace(/[:.]/g, "-")}`;
  for (const suffix of ["-wal", "-shm", ""]) {
    if (existsSync(file + suffix)) renameSync(file + suffix, previous + suffix);
  }
  renameSync(incoming, file);
}

/** A store that does not know a run which lives would give its name to a second owner. */
export function refuseUnknownRuns(live: LiveRuns, known: ReadonlySet<string>): void {
  const unknown = [...live].filter(([run]) => !known.has(run));
  if (unknown.length === 0) return;
  const runs = unknown.map(([run]) => run).join(", ");
  throw new PerdureError("conflict", `These runs live, and that store would not know them: ${runs}.`, {
    hint: `end them first: kill ${unknown.flatMap(([, pids]) => pids).join(" ")}`,
  });
}

function syncFile(file: string): void {
  const fd = openSync(file, "r+");
  fsyncSync(fd);
  closeSync(fd);
}

/** Those that had not ended when the backup was made. */
function runsIn(backup: string): Set<string> {
  if (!existsSync(backup)) {
    throw new PerdureError("not-found", `There is no file ${backup}.`, { hint: "perdure daemon start --restore FILE" });
  }
  try {
    const db = new Db(backup, { readOnly: true });
    const runs = new Set(unendedRuns(db).map(({ id }) => id));
    db.close();
    return runs;
  } catch (cause) {
    throw notABackup(backup, cause);
  }
}

function notABackup(backup: string, cause: unknown): PerdureError {
  return new PerdureError("usage", `${backup} is not a backup of a store.`, {
    hint: "perdure daemon start --restore FILE",
    cause,
  });
}

import { copyFileSync, existsSync, renameSync } from "node:fs";
import { PerdureError } from "../protocol/errors.ts";
import { Db } from "./db.ts";
import { aliveRuns } from "./runs.ts";

/**
 * Puts a backup in the store's place; what was there is kept beside it. Only with the daemon's lock held. Refused while
 * runs live that the backup does not know: their names would be free for a second owner.
 */
export function restoreStore(backup: string, file: string, liveRuns: ReadonlySet<string>): void {
  const known = runsIn(backup);
  const unknown = [...liveRuns].filter((run) => !known.has(run));
  if (unknown.length > 0) {
    throw new PerdureError("conflict", `These runs live and the backup does not know them: ${unknown.join(", ")}.`, {
      hint: "perdure takeover NAME for each, then restore again",
    });
  }
  const incoming = `${file}.restoring`;
  copyFileSync(backup, incoming);
  const kept = `${file}.before-restore-${new Date().toISOString().replace(/[:.]/g, "-")}`;
  for (const suffix of ["-wal", "-shm", ""]) {
    if (existsSync(file + suffix)) renameSync(file + suffix, kept + suffix);
  }
  renameSync(incoming, file);
}

/** Those that had not ended when the backup was made. */
function runsIn(backup: string): Set<string> {
  if (!existsSync(backup)) {
    throw new PerdureError("not-found", `There is no file ${backup}.`, { hint: "perdure daemon start --restore FILE" });
  }
  try {
    const db = new Db(backup, { readOnly: true });
    const runs = new Set(aliveRuns(db).map(({ id }) => id));
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

import { copyFileSync, existsSync, renameSync } from "node:fs";
import { PerdureError } from "../protocol/errors.ts";
import { Db } from "./db.ts";
import { schemaVersion } from "./migrate.ts";

/** Puts a backup in the store's place; what was there is kept beside it. Only with the daemon's lock held. */
export function restoreStore(backup: string, file: string): void {
  assertStore(backup);
  const incoming = `${file}.restoring`;
  copyFileSync(backup, incoming);
  const kept = `${file}.before-restore-${new Date().toISOString().replace(/[:.]/g, "-")}`;
  for (const suffix of ["-wal", "-shm", ""]) {
    if (existsSync(file + suffix)) renameSync(file + suffix, kept + suffix);
  }
  renameSync(incoming, file);
}

function assertStore(backup: string): void {
  try {
    const db = new Db(backup, { readOnly: true });
    const version = schemaVersion(db);
    db.close();
    if (version > 0) return;
  } catch (cause) {
    throw notABackup(backup, cause);
  }
  throw notABackup(backup, undefined);
}

function notABackup(backup: string, cause: unknown): PerdureError {
  return new PerdureError("usage", `${backup} is not a backup of a store.`, {
    hint: "perdure daemon start --restore FILE",
    cause,
  });
}

import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Db } from "./db.ts";
import type { StorePlace } from "./place.ts";
import { allProjects } from "./projects.ts";

/** Follows the store's name in the name of a file that holds what a removed store held. */
export const RESCUED_SUFFIX = ".rescued-";

/** Follows the store's name in the name of a note that says where a living daemon's store was moved to. */
export const MOVED_SUFFIX = ".moved-";

/** The outcome for a store whose files were removed, replaced or moved under it. */
export type Rescue = { kept: "in-place" } | { kept: "moved"; to: string } | { kept: "saved"; as: string } | null;

/**
 * Brings what an open store holds to a place where it will be found: the store's own file if that still has a path, and a note of
 * that path; else a new file beside the old one, because a file that was removed stays whole while it is open. The next daemon
 * reads both, so that it never begins with an empty store in silence. Returns null if the store knew no names.
 */
export async function rescueStore(db: Db, place: StorePlace, openFiles: readonly string[]): Promise<Rescue> {
  // Whatever becomes of the log, and whatever else is at the path of the store now, the file itself is complete after this.
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  if (place.isStore(place.file)) {
    setForeignLogAside(place);
    return { kept: "in-place" };
  }
  if (allProjects(db).length === 0) return null;
  mkdirSync(dirname(place.file), { recursive: true, mode: 0o700 });
  const to = openFiles.find((path) => place.isStore(path));
  if (to !== undefined) {
    // Where another store stands in its place by now, that one is served.
    if (!existsSync(place.file)) writeFileSync(`${place.file}${MOVED_SUFFIX}${stamp()}`, to, { mode: 0o600 });
    return { kept: "moved", to };
  }
  const as = `${place.file}${RESCUED_SUFFIX}${stamp()}`;
  await db.backup(`${as}.partial`);
  renameSync(`${as}.partial`, as);
  return { kept: "saved", as };
}

/** SQLite would read a log of another store into this one: nothing in a log says whose it is. */
function setForeignLogAside(place: StorePlace): void {
  if (place.hasForeignLog()) renameSync(`${place.file}-wal`, `${place.file}-wal.foreign-${stamp()}`);
}

function stamp(): string {
  return new Date().toISOString().replace(/[:.]/g, "-");
}

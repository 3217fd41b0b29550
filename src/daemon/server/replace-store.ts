import { cpSync, existsSync, renameSync } from "node:fs";
import type { StatePaths } from "../../state/paths.ts";
import { refuseUnknownRuns, restoreStore } from "../../store/restore-backup.ts";
import { HighWater } from "./high-water.ts";
import { liveRunsEverywhere } from "./live-runs.ts";

/**
 * Replaces the store at this start if the operator asked for it: with a backup, or with an empty one. Returns the workers that a backup
 * takes back to an earlier time, or null if that is not known or there is no backup.
 */
export function replaceStore(paths: StatePaths, newStore: boolean): string[] | null {
  const backup = argumentAfter("--restore");
  const ranSince = backup === null ? null : restoreStore(backup, paths.database, liveRunsEverywhere(paths));
  if (backup === null) {
    if (!newStore || existsSync(paths.database)) return null;
    refuseUnknownRuns(liveRunsEverywhere(paths), new Set(), "the new store");
  }
  new HighWater(paths.highWater).remove();
  for (const folder of [paths.custody, paths.attachments]) setFolderAside(folder, backup !== null);
  return ranSince;
}

function argumentAfter(flag: string): string | null {
  const at = process.argv.indexOf(flag);
  return at < 0 ? null : (process.argv[at + 1] ?? null);
}

/**
 * Saves a folder of files that the old store knows by number, and that another store would delete or overwrite. For a backup
 * the folder is copied, so that the files which the backup knows stay usable; else it is moved.
 */
function setFolderAside(folder: string, copies: boolean): void {
  if (!existsSync(folder)) return;
  const aside = `${folder}.before-${new Date().toISOString().replace(/[:.]/g, "-")}`;
  if (copies) cpSync(folder, aside, { recursive: true, preserveTimestamps: true });
  else renameSync(folder, aside);
}

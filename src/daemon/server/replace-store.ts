import { cpSync, existsSync, renameSync } from "node:fs";
import { liveRuns, processTable } from "../../runtime/process/index.ts";
import type { StatePaths } from "../../state/paths.ts";
import { refuseUnknownRuns, restoreStore, type LiveRuns } from "../../store/restore.ts";
import { HighWater } from "./high-water.ts";

/** What the operator asked for at this start: a backup put back, or an empty store beside one that was set aside. */
export function replaceStore(paths: StatePaths, newStore: boolean): void {
  const backup = argumentAfter("--restore");
  const live = (): LiveRuns => liveRuns(processTable(), paths.socket);
  if (backup !== null) restoreStore(backup, paths.database, live());
  else if (newStore && !existsSync(paths.database)) refuseUnknownRuns(live(), new Set(), "the new store");
  else return;
  new HighWater(paths.highWater).remove();
  for (const folder of [paths.custody, paths.attachments]) setFolderAside(folder, backup !== null);
}

function argumentAfter(flag: string): string | null {
  const at = process.argv.indexOf(flag);
  return at < 0 ? null : (process.argv[at + 1] ?? null);
}

/**
 * Copies and files belong to the store that knows them by number: another one would clear them away, or write over them. What
 * a backup knew of stays usable.
 */
function setFolderAside(folder: string, copies: boolean): void {
  if (!existsSync(folder)) return;
  const aside = `${folder}.before-${new Date().toISOString().replace(/[:.]/g, "-")}`;
  if (copies) cpSync(folder, aside, { recursive: true, preserveTimestamps: true });
  else renameSync(folder, aside);
}

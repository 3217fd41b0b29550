import { existsSync } from "node:fs";
import { liveRuns, processTable } from "../runtime/process/index.ts";
import type { StatePaths } from "../state/paths.ts";
import { refuseUnknownRuns, restoreStore, type LiveRuns } from "../store/restore.ts";
import { HighWater } from "./high-water.ts";

/** What the operator asked for at this start: a backup put back, or an empty store beside one that was set aside. */
export function replaceStore(paths: StatePaths, beginAnew: boolean): void {
  const backup = argumentAfter("--restore");
  const live = (): LiveRuns => liveRuns(processTable(), paths.socket);
  if (backup !== null) restoreStore(backup, paths.database, live());
  else if (beginAnew && !existsSync(paths.database)) refuseUnknownRuns(live(), new Set());
  else return;
  new HighWater(paths.highWater).forget();
}

function argumentAfter(flag: string): string | null {
  const at = process.argv.indexOf(flag);
  return at < 0 ? null : (process.argv[at + 1] ?? null);
}

import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { RETENTION_EVERY_MS, RUN_FOLDERS_KEPT } from "../../limits/index.ts";
import { fileNameOf } from "../../protocol/foreign-id.ts";
import { dropOldRows } from "../../store/retention.ts";
import { aliveRuns } from "../../store/runs.ts";
import type { House } from "../services.ts";
import { sweepAttachments } from "../mail/attachments.ts";
import { boundLog } from "./log.ts";

export function keepBounds(house: House): NodeJS.Timeout {
  return setInterval(() => clearOld(house), RETENTION_EVERY_MS).unref();
}

export function clearOld(house: House): void {
  house.writer
    .write(() => dropOldRows(house.db, house.now()))
    .then(() => {
      dropOldRunFolders(house);
      return house.custody.sweep();
    })
    .then(() => sweepAttachments(house))
    .then(() => {
      boundLog(house.paths.log);
    })
    .catch((error: unknown) => house.log(`retention: ${String(error)}`));
}

function dropOldRunFolders(house: House): void {
  const alive = new Set(aliveRuns(house.db).map(({ id }) => fileNameOf(id)));
  const folders = readdirSync(house.paths.runs)
    .filter((name) => !alive.has(name))
    .map((name) => ({ path: join(house.paths.runs, name), at: statSync(join(house.paths.runs, name)).mtimeMs }))
    .toSorted((a, b) => b.at - a.at);
  for (const { path } of folders.slice(RUN_FOLDERS_KEPT)) rmSync(path, { recursive: true, force: true });
}

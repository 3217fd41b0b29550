import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { RETENTION_EVERY_MS, RUN_FOLDERS_KEPT } from "../limits/index.ts";
import { fileNameOf } from "../protocol/foreign-id.ts";
import { dropOldRows } from "../store/retention.ts";
import { unendedRuns } from "../store/runs.ts";
import type { Services } from "./services.ts";
import { sweepAttachments } from "./mail/attachments.ts";
import { rotateLog } from "./server/log.ts";

export function scheduleRetention(services: Services): NodeJS.Timeout {
  return setInterval(() => runRetention(services), RETENTION_EVERY_MS).unref();
}

export function runRetention(services: Services): void {
  services.writer
    .write(() => dropOldRows(services.db, services.now()))
    .then(() => {
      dropOldRunFolders(services);
      return services.custody.sweep();
    })
    .then(() => sweepAttachments(services))
    .then(() => {
      services.environments.sweep();
      rotateLog(services.paths.log);
    })
    .catch((error: unknown) => services.log(`retention: ${String(error)}`));
}

function dropOldRunFolders(services: Services): void {
  const alive = new Set(unendedRuns(services.db).map(({ id }) => fileNameOf(id)));
  const folders = readdirSync(services.paths.runs)
    .filter((name) => !alive.has(name))
    .map((name) => ({ path: join(services.paths.runs, name), at: statSync(join(services.paths.runs, name)).mtimeMs }))
    .toSorted((a, b) => b.at - a.at);
  for (const { path } of folders.slice(RUN_FOLDERS_KEPT)) rmSync(path, { recursive: true, force: true });
}

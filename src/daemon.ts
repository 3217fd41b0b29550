import { dirname } from "node:path";
import { Daemon } from "./daemon/app.ts";
import { reportToStarter } from "./daemon/server/daemon-file.ts";
import { lockOrYield, mayHavePredecessor, waitForLock, waitForPredecessor } from "./daemon/server/lock.ts";
import { rotateLog, logLine } from "./daemon/server/log.ts";
import { asPerdureError } from "./protocol/errors.ts";
import { statePaths } from "./state/paths.ts";
import { makeSafeFolder } from "./state/safe-folder.ts";

// The entry point of perdured: creates the folders, takes the lock, then starts the daemon.

async function main(): Promise<void> {
  process.umask(0o077);
  const isService = process.argv.includes("--service");
  const paths = statePaths(process.env);
  for (const folder of [paths.dir, paths.runs, dirname(paths.log), dirname(paths.socket)]) makeSafeFolder(folder);
  const looksForPredecessor = mayHavePredecessor(paths);
  const lock = isService ? await waitForLock(paths.lock) : await lockOrYield(paths.lock, paths.socket);
  if (lock === null) return reportToStarter({ taken: true });
  if (looksForPredecessor) await waitForPredecessor(paths);
  rotateLog(paths.log);
  const daemon = new Daemon(paths, lock, { isService, newStore: process.argv.includes("--new-store") });
  await daemon.serve();
  reportToStarter({ ready: true, pid: process.pid });
}

main().catch((thrown: unknown) => {
  const error = asPerdureError(thrown);
  logLine(`cannot start: ${error.message}`);
  reportToStarter({ error: error.toJSON() });
  process.exitCode = error.exitCode;
});

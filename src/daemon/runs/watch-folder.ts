import { mkdirSync, watch, type FSWatcher } from "node:fs";
import { EXIT_FILE } from "../../runtime/wrapper/script.ts";
import { EVENT_PREFIX, TAKEN_PREFIX } from "../../vendors/index.ts";

/** Listens to the files that appear in a run's folder: the exit code, and what a hook leaves. */
interface FolderListener {
  exited(): void;
  hookFile(): void;
}

/** Watches a run's folder, for speed only: where that fails (inotify limits, a removed folder), the poll finds the end. */
export function watchRunFolder(
  folder: string,
  listener: FolderListener,
  log: (line: string) => void,
): FSWatcher | null {
  const logFailure = (error: unknown): null => {
    log(`cannot watch ${folder}: ${String(error)}`);
    return null;
  };
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const watcher = watch(folder, (_event, file) => {
      if (file === EXIT_FILE) listener.exited();
      else if (file?.startsWith(EVENT_PREFIX) || file?.startsWith(TAKEN_PREFIX)) listener.hookFile();
    });
    watcher.on("error", logFailure).unref();
    return watcher;
  } catch (error) {
    return logFailure(error);
  }
}

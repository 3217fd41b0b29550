import { mkdirSync, watch, type FSWatcher } from "node:fs";

/** Watching is only for speed; the poll finds the end as well (inotify limits, a removed folder). */
export function watchRunFolder(
  folder: string,
  heard: (file: string) => void,
  log: (line: string) => void,
): FSWatcher | null {
  const unwatched = (error: unknown): null => {
    log(`cannot watch ${folder}: ${String(error)}`);
    return null;
  };
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const watcher = watch(folder, (_event, file) => {
      if (file !== null) heard(file);
    });
    watcher.on("error", unwatched).unref();
    return watcher;
  } catch (error) {
    return unwatched(error);
  }
}

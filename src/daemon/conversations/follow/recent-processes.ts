import type { ProcessView } from "../../../vendors/adapter.ts";
import type { ProcessTable } from "../../../runtime/process/types.ts";

/** Caches the process table for a while, for polls of many runs in a row; never for a decision that has to be right. */
export function recentProcesses(
  table: ProcessTable,
  lifetimeMs: number,
  now: () => number,
): ProcessView & { forget: () => void } {
  let cache = new Map<string, unknown>();
  let sinceMs = now();
  const memo = <T>(key: string, make: () => T): T => {
    if (now() - sinceMs >= lifetimeMs) {
      cache = new Map();
      sinceMs = now();
    }
    if (cache.has(key)) return cache.get(key) as T;
    // It may ask for something else here, and begin a new cache by that.
    const value = make();
    cache.set(key, value);
    return value;
  };
  return {
    memo,
    forget: () => (cache = new Map()),
    inspect: (pid) => memo(`inspect ${pid}`, () => table.inspect(pid)),
    openFiles: (pid) => memo(`files ${pid}`, () => table.openFiles(pid)),
    lockHolders: (file) => memo(`lock ${file}`, () => table.lockHolders(file)),
    commandLines: () => memo("command lines", () => table.commandLines()),
  };
}

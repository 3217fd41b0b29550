import { linuxProcesses } from "./linux.ts";
import { macosProcesses } from "./macos.ts";
import type { ProcessId, ProcessTable } from "./types.ts";

export type { ProcessId, ProcessInfo, ProcessTable } from "./types.ts";

export function processTable(platform: NodeJS.Platform = process.platform): ProcessTable {
  return platform === "darwin" ? macosProcesses() : linuxProcesses();
}

/** The same process, by pid, start time and boot. A reused pid can share even the start tick: see `isRunProcess`. */
export function isAlive(table: ProcessTable, id: ProcessId): boolean {
  if (id.bootId !== table.bootId()) return false;
  return table.look(id.pid)?.startedAt === id.startedAt;
}

/** The same process, and it carries the run in its environment: the one test before any signal. */
export function isRunProcess(table: ProcessTable, id: ProcessId, run: string): boolean {
  return isAlive(table, id) && table.variable(id.pid, "PERDURE_RUN") === run;
}

import { linuxProcesses } from "./linux.ts";
import { macosProcesses } from "./macos.ts";
import type { ProcessId, ProcessInfo, ProcessTable } from "./types.ts";

export { findDaemons, isStillDaemon } from "./find-daemons.ts";
export type { ProcessId, ProcessInfo, ProcessTable } from "./types.ts";

export function processTable(platform: NodeJS.Platform = process.platform): ProcessTable {
  // Tests simulate a reboot with another file.
  return platform === "darwin"
    ? macosProcesses()
    : linuxProcesses("/proc", process.env.PERDURE_BOOT_ID_FILE || undefined);
}

/** Marks a process as part of a run. Run ids are unique per state folder only, so the socket is part of the mark. */
export interface RunMark {
  run: string;
  socket: string;
}

/** Compares a process by pid, start time, boot and namespace. A reused pid can share even the start tick: see `isRunProcess`. */
export function isAlive(table: ProcessTable, id: ProcessId): boolean {
  if (id.bootId !== table.bootId()) return false;
  if (id.namespace !== null && id.namespace !== table.namespace()) return false;
  return table.inspect(id.pid)?.startedAt === id.startedAt;
}

export function carries(table: ProcessTable, pid: number, mark: RunMark): boolean {
  return table.variable(pid, "PERDURE_RUN") === mark.run && table.variable(pid, "PERDURE_SOCKET") === mark.socket;
}

/**
 * Lists every live process that carries the run in its environment. An empty list takes two scans: a process that forks
 * and exits while the list is read, or is in the middle of an exec, can be missed once.
 */
export function carriers(table: ProcessTable, mark: RunMark): ProcessInfo[] {
  const scan = (): ProcessInfo[] => {
    return table.withVariable("PERDURE_RUN", mark.run).filter(({ pid }) => carries(table, pid, mark));
  };
  const found = scan();
  return found.length > 0 ? found : scan();
}

/** Lists the live processes of every run of a state folder. Two scans are joined by default, because one can miss a process. */
export function carriersByRun(table: ProcessTable, socket: string, scans = 2): Map<string, ProcessInfo[]> {
  const found = new Map<number, ProcessInfo>();
  for (let scan = 0; scan < scans; scan++) {
    for (const process of table.withVariable("PERDURE_SOCKET", socket)) found.set(process.pid, process);
  }
  const runs = new Map<string, ProcessInfo[]>();
  for (const process of found.values()) {
    const run = table.variable(process.pid, "PERDURE_RUN");
    if (run !== null) runs.set(run, [...(runs.get(run) ?? []), process]);
  }
  return runs;
}

/** Returns the pids of live processes by run, for a state folder, whatever its store says. */
export function liveRuns(table: ProcessTable, socket: string): Map<string, number[]> {
  const runs = new Map<string, number[]>();
  for (const { pid } of table.withVariable("PERDURE_SOCKET", socket)) {
    const run = table.variable(pid, "PERDURE_RUN");
    if (run !== null) runs.set(run, [...(runs.get(run) ?? []), pid]);
  }
  return runs;
}

/** Tells whether the same process is alive and carries the run in its environment: the check before any signal. */
export function isRunProcess(table: ProcessTable, id: ProcessId, mark: RunMark): boolean {
  return isAlive(table, id) && carries(table, id.pid, mark);
}

/** Which process is meant, so that a reused pid is never taken for it. */
export interface ProcessId {
  pid: number;
  /** The kernel's start time of the process, as text: ticks since boot on Linux, a date on macOS. */
  startedAt: string;
  bootId: string;
}

export interface ProcessInfo extends ProcessId {
  parentPid: number;
  /** Stopped by a signal or a terminal (Ctrl-Z): alive, and not running. */
  suspended: boolean;
  command: string;
}

/** What we need to know of the machine's processes; one implementation per operating system. */
export interface ProcessTable {
  bootId(): string;
  /** Null when there is no such process or it has already ended and only waits to be reaped. */
  inspect(pid: number): ProcessInfo | null;
  /** One variable of the environment it was started with; null when it is not set or may not be read. */
  variable(pid: number, name: string): string | null;
  /** Its command line, as far as it can be read. */
  argv(pid: number): string[];
  children(pid: number): number[];
  /** The paths of the files it has open, as far as they can be read. */
  openFiles(pid: number): string[];
  /** Who holds a lock of the kernel on the file. */
  lockHolders(file: string): number[];
  /** The command line of every process of ours. */
  commandLines(): { pid: number; argv: string[] }[];
  /** Every live process of ours that was started with `name=value`. */
  withVariable(name: string, value: string): ProcessInfo[];
}

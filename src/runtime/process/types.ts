/** Identifies a process, so that a reused pid is never mistaken for it. */
export interface ProcessId {
  pid: number;
  /** The kernel's start time of the process, as text: ticks since boot on Linux, a date on macOS. */
  startedAt: string;
  bootId: string;
  /** The pid namespace in which the pid counts; null for a process that an older perdure recorded without it. */
  namespace: string | null;
}

export interface ProcessInfo extends ProcessId {
  parentPid: number;
  /** The process was stopped by a signal or a terminal (Ctrl-Z): alive, and not running. */
  suspended: boolean;
  command: string;
}

/** The machine's processes, as far as perdure needs them; one implementation per operating system. */
export interface ProcessTable {
  bootId(): string;
  /** Returns the pid namespace whose pids the table has; the empty text where the system has no namespaces. */
  namespace(): string;
  /** Tells whether the table has the processes of every namespace, so that what is not in it does not exist. */
  seesEveryNamespace(): boolean;
  /** Returns a live process; null when there is none, or a zombie that only waits to be reaped. */
  inspect(pid: number): ProcessInfo | null;
  /** Returns a variable of the environment that the process was started with; null when not set or not readable. */
  variable(pid: number, name: string): string | null;
  /** Returns the command line of a process, as far as it can be read. */
  argv(pid: number): string[];
  children(pid: number): number[];
  /** Returns the paths of the files that a process has open, as far as they can be read. */
  openFiles(pid: number): string[];
  /** Returns those of the files, each by its real path, that some process of this user has open. */
  openAmong(files: readonly string[]): string[];
  /** Returns the processes that hold a kernel lock on the file. */
  lockHolders(file: string): Promise<number[]>;
  /** Returns the command line of every process of this user. */
  commandLines(): { pid: number; argv: string[] }[];
  /** Returns every live process of this user that was started with `name=value`. */
  withVariable(name: string, value: string): ProcessInfo[];
}

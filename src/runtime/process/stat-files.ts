import { closeSync, openSync, readSync } from "node:fs";
import { PROCESS_FILES_KEPT_MAX } from "../../limits/index.ts";
import { isErrno } from "../../state/files.ts";

/**
 * Returns a reader of `/proc/PID/stat`. The file of a process that is asked about again stays open, because live runs are polled every
 * second: one system call in place of five. The kernel ties an open file to the process itself: once that has ended, reading fails,
 * whoever has its pid then. The reader returns null where there is no such process.
 */
export function statFiles(proc: string): (pid: number) => string | null {
  const kept = new Map<number, number>();
  /** The pids that were asked about once. */
  const seen = new Set<number>();

  const keep = (pid: number, fd: number): void => {
    kept.set(pid, fd);
    seen.delete(pid);
    if (kept.size <= PROCESS_FILES_KEPT_MAX) return;
    const [oldest] = kept;
    if (oldest) drop(...oldest);
  };

  const drop = (pid: number, fd: number): void => {
    kept.delete(pid);
    closeSync(fd);
  };

  return (pid) => {
    const known = kept.get(pid);
    if (known !== undefined) {
      const line = readLine(known);
      if (line !== null) return line;
      drop(pid, known); // another process may have the pid by now
    }
    const fd = openIfThere(`${proc}/${pid}/stat`);
    if (fd === null) return null;
    const line = readLine(fd);
    if (line !== null && seen.has(pid)) {
      keep(pid, fd);
      return line;
    }
    closeSync(fd);
    if (line !== null) noteSeen(seen, pid);
    return line;
  };
}

/** Forgets all when there are too many: whoever is polled is seen again at once. */
function noteSeen(seen: Set<number>, pid: number): void {
  if (seen.size >= PROCESS_FILES_KEPT_MAX) seen.clear();
  seen.add(pid);
}

function openIfThere(file: string): number | null {
  try {
    return openSync(file, "r");
  } catch (error) {
    if (isErrno(error, ...GONE)) return null;
    throw error;
  }
}

/** A line has a few hundred bytes; only the command's name in it may not be UTF-8. */
const LINE = Buffer.allocUnsafe(4 * 1024);

function readLine(fd: number): string | null {
  try {
    const bytes = readSync(fd, LINE, 0, LINE.length, 0);
    return bytes === 0 ? null : LINE.toString("utf8", 0, bytes);
  } catch (error) {
    if (isErrno(error, ...GONE)) return null;
    throw error;
  }
}

const GONE = ["ENOENT", "ESRCH", "EACCES", "EPERM"];

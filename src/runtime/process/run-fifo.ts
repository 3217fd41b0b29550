import { closeSync, constants, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isErrno } from "../../state/files.ts";

/**
 * The fifo in a run's folder that the run's claimer, its wrapper and its program keep open. The kernel shares a fifo among pid
 * namespaces: a fifo that nobody has open belongs to a run without processes, wherever they were.
 */
export const ALIVE_FIFO = "alive";

/** The file in a run's folder that tells a wrapper which comes late that its run was ended before it began. */
export const ENDED_MARK = "ended";

/** Tells whether anybody has the fifo of a run open; unknown if the run has none, or one that may not be opened. */
export function runFifoState(runDir: string): "held" | "free" | "unknown" {
  try {
    // Opening for writing fails without a reader. This writer is there for an instant, and is no reader to anybody.
    closeSync(openSync(join(runDir, ALIVE_FIFO), constants.O_WRONLY | constants.O_NONBLOCK));
    return "held";
  } catch (error) {
    if (isErrno(error, "ENXIO")) return "free";
    if (isErrno(error, ...UNKNOWN)) return "unknown";
    throw error;
  }
}

const UNKNOWN = ["ENOENT", "ENOTDIR", "EACCES", "EPERM", "EROFS", "EMFILE", "ENFILE", "ENOSPC", "EDQUOT"];

/**
 * Tells whether the processes of a run are gone for good; false when nobody can tell. A wrapper opens the fifo and then looks
 * for the mark; here the mark is written and then the fifo is tried once more: one of the two sees the other.
 */
export function isRunGone(runDir: string): boolean {
  if (runFifoState(runDir) !== "free") return false;
  const mark = join(runDir, ENDED_MARK);
  try {
    writeFileSync(mark, "", { mode: 0o600 });
  } catch (error) {
    if (isErrno(error, ...UNKNOWN)) return false;
    throw error;
  }
  if (runFifoState(runDir) === "free") return true;
  rmSync(mark, { force: true });
  return false;
}

/**
 * Keeps the fifo of a run open until the returned function is called, or until this process ends or becomes another program.
 * A run of an older daemon has no fifo.
 */
export function holdRunFifo(runDir: string): () => void {
  try {
    let fd: number | null = openSync(join(runDir, ALIVE_FIFO), constants.O_RDWR | constants.O_NONBLOCK);
    return () => {
      if (fd !== null) closeSync(fd);
      fd = null;
    };
  } catch (error) {
    if (isErrno(error, "ENOENT")) return () => undefined;
    throw error;
  }
}

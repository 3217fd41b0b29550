import { isErrno } from "../../state/files.ts";
import { isRunProcess, type ProcessId, type ProcessTable, type RunMark } from "./index.ts";

/**
 * Signals a process of a run; no other code does. The identity is checked right before: pid, start time, boot, and the
 * run in the environment. Returns whether the signal was sent.
 */
export function signalRunProcess(table: ProcessTable, id: ProcessId, mark: RunMark, signal: NodeJS.Signals): boolean {
  if (!isRunProcess(table, id, mark)) return false;
  try {
    process.kill(id.pid, signal);
    return true;
  } catch (error) {
    if (isErrno(error, "ESRCH")) return false;
    throw error;
  }
}

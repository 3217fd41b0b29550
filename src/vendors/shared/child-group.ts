import { isErrno } from "../../state/files.ts";

/** Kills a child that leads a process group of its own, together with all that it started. */
export function endGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, "SIGKILL");
  } catch (error) {
    if (!isErrno(error, "ESRCH")) throw error; // it has ended by itself
  }
}

import { isErrno } from "../../state/files.ts";

/** Ends a child that leads a group of its own, and what it started with it. */
export function endGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, "SIGKILL");
  } catch (error) {
    if (!isErrno(error, "ESRCH")) throw error; // it has ended by itself
  }
}

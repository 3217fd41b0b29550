import { once } from "node:events";
import type { ChildProcess } from "node:child_process";
import { CHILD_END_WAIT_MS } from "../../limits/index.ts";
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

/**
 * Kills such a child and waits until it and all that it started are gone: a killed process keeps its locks until the kernel
 * has cleared it away, and a program that needs one of them would be refused. Whoever has a pipe of ours is waited for.
 */
export async function endGroupAndWait(child: ChildProcess): Promise<void> {
  const { stdout, stderr } = child;
  const isOpen = [stdout, stderr].some((stream) => stream !== null && !stream.closed);
  endGroup(child.pid);
  if (child.pid === undefined || (child.exitCode !== null && !isOpen)) return;
  // What is not read keeps a pipe open.
  for (const stream of [stdout, stderr]) stream?.resume();
  const bound = AbortSignal.timeout(CHILD_END_WAIT_MS);
  await once(child, "close", { signal: bound }).catch((error: unknown) => {
    if (!bound.aborted) throw error; // somebody outside of the group has inherited a pipe: the group itself is dead
  });
}

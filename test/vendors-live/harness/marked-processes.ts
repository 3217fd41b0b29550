import { setTimeout as sleep } from "node:timers/promises";
import { processTable } from "../../../src/runtime/process/index.ts";

const WAIT_MS = 10_000;

/**
 * Sends SIGKILL to every process that was started with a variable, until none is left: children inherit it, wherever they
 * went. Returns their pids.
 */
export async function killMarked(name: string, value: string): Promise<number[]> {
  const table = processTable();
  const deadline = Date.now() + WAIT_MS;
  const killed = new Set<number>();
  for (;;) {
    const left = table.withVariable(name, value);
    if (left.length === 0) return [...killed];
    if (Date.now() > deadline)
      throw new Error(`they do not die: ${left.map(({ pid, command }) => `${pid} ${command}`).join(", ")}`);
    for (const { pid } of left) {
      killed.add(pid);
      kill(pid);
    }
    await sleep(5);
  }
}

/** Waits until no process with the variable is left, but not for ever: some do not mind that their terminal is gone. */
export async function untilGone(name: string, value: string): Promise<void> {
  const table = processTable();
  const deadline = Date.now() + WAIT_MS;
  while (table.withVariable(name, value).length > 0 && Date.now() < deadline) await sleep(5);
}

/** Waits until nothing is left of killed processes, not even an entry in the kernel's table. */
export async function untilReaped(pids: readonly number[]): Promise<void> {
  const deadline = Date.now() + WAIT_MS;
  while (pids.some(isThere)) {
    if (Date.now() > deadline) throw new Error(`nobody asks for their end: ${pids.filter(isThere).join(", ")}`);
    await sleep(5);
  }
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
    throw error;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error; // else it was faster
  }
}

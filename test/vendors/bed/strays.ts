import { setTimeout as sleep } from "node:timers/promises";
import { processTable } from "../../../src/runtime/process/index.ts";

const WAIT_MS = 10_000;

/** SIGKILL to every process that was started with a variable, until none is left: children inherit it, wherever they went. */
export async function killMarked(name: string, value: string): Promise<void> {
  const table = processTable();
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    const left = table.withVariable(name, value);
    if (left.length === 0) return;
    if (Date.now() > deadline)
      throw new Error(`they do not die: ${left.map(({ pid, command }) => `${pid} ${command}`).join(", ")}`);
    for (const { pid } of left) kill(pid);
    await sleep(5);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error; // else it was faster
  }
}

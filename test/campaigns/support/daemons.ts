import { readdirSync, readFileSync } from "node:fs";
import { isErrno } from "../../../src/state/files.ts";
import type { Home } from "../../support/home.ts";
import { eventually } from "../../support/check.ts";

/** Every process of dist/daemon.cjs that works for this home, by what the kernel says of it. */
export function daemonsOf(home: Home): number[] {
  return readdirSync("/proc")
    .filter((entry) => /^[0-9]+$/.test(entry))
    .filter((pid) => {
      const command = readProc(pid, "cmdline").split("\0");
      return (
        command.some((word) => word.endsWith("/dist/daemon.cjs")) &&
        readProc(pid, "environ").split("\0").includes(`HOME=${home.dir}`)
      );
    })
    .map(Number);
}

/** SIGKILL to whatever serves, or is about to. Somebody else may have started the next one when this resolves. */
export async function killDaemons(home: Home): Promise<void> {
  const doomed = daemonsOf(home);
  for (const pid of doomed) kill(pid);
  await eventually("SIGKILL of the daemon", () => !daemonsOf(home).some((pid) => doomed.includes(pid)));
}

/** One that came too late for the lock may have left by itself meanwhile. */
function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (!isErrno(error, "ESRCH")) throw error;
  }
}

function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch (error) {
    if (isErrno(error, "ENOENT", "ESRCH")) return "";
    throw error;
  }
}

import { setTimeout as sleep } from "node:timers/promises";
import { connectToDaemon } from "../../client/connect.ts";
import { DAEMON_START_WAIT_MS } from "../../limits/index.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import { processTable } from "../../runtime/process/index.ts";
import { readIfThere } from "../../state/files.ts";
import { statePaths } from "../../state/paths.ts";

/** Stops the daemon and waits for its exit. Returns its pid, or null when none ran. */
export async function stopDaemon(): Promise<number | null> {
  const pid = await askToStop();
  if (pid !== null) await waitForExit(pid);
  return pid;
}

/** Asks the daemon to stop; one of another version, which would not understand the call, gets TERM. Null when none runs. */
async function askToStop(): Promise<number | null> {
  try {
    const client = await connectToDaemon({ autostart: false });
    const { pid } = await client.call("stopDaemon", {});
    client.close();
    return pid;
  } catch (error) {
    if (!isPerdureError(error)) throw error;
    if (error.code === "unavailable") return null;
    if (error.code === "version") return terminate();
    throw error;
  }
}

function terminate(): number | null {
  const text = readIfThere(statePaths(process.env).daemonFile);
  const { pid, processStarted } = JSON.parse(text ?? "{}") as { pid?: number; processStarted?: string };
  if (pid === undefined || processTable().inspect(pid)?.startedAt !== processStarted) return null;
  process.kill(pid, "SIGTERM");
  return pid;
}

async function waitForExit(pid: number): Promise<void> {
  const processes = processTable();
  for (let waited = 0; waited < DAEMON_START_WAIT_MS; waited += 10) {
    if (processes.inspect(pid) === null) return;
    await sleep(10);
  }
  throw new PerdureError("timed-out", `The daemon (pid ${pid}) has not exited yet.`, { hint: "perdure daemon status" });
}

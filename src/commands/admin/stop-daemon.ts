import { setTimeout as sleep } from "node:timers/promises";
import { connectToDaemon } from "../../client/connect.ts";
import { DAEMON_START_WAIT_MS, RUN_FILE_BYTES_MAX } from "../../limits/index.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import { findDaemons, isStillDaemon, processTable } from "../../runtime/process/index.ts";
import { readIfReadable } from "../../state/bounded-read.ts";
import { isErrno } from "../../state/files.ts";
import { statePaths } from "../../state/paths.ts";
import { parseObject } from "../../util/fields.ts";

/** Stops the daemon and waits for its exit. Returns its pid, or null when none ran. */
export async function stopDaemon(): Promise<number | null> {
  const stopping = await askToStop();
  if (stopping !== null) await waitForExit(stopping);
  return stopping?.pid ?? null;
}

interface Stopping {
  pid: number;
  /** Tells whether the daemon has exited. */
  hasExited: () => Promise<boolean>;
}

/**
 * Asks the daemon to stop. One that cannot be asked gets TERM: it may be of another version, or its socket was removed. Null when
 * none runs.
 */
async function askToStop(): Promise<Stopping | null> {
  try {
    const client = await connectToDaemon({ autostart: false });
    const { daemonNamespace } = client;
    const { pid } = await client.call("stopDaemon", {});
    client.close();
    // The pid of a daemon in another pid namespace is another process here, or none.
    const isHere = daemonNamespace === null || daemonNamespace === processTable().namespace();
    return { pid, hasExited: isHere ? async () => isGone(pid) : isNobodyListening };
  } catch (error) {
    if (!isPerdureError(error)) throw error;
    if (error.code === "version") refuseElsewhere();
    if (error.code === "unavailable" || error.code === "version") return terminate();
    throw error;
  }
}

/** Ends the daemons of this state folder by their processes; each is looked at once more right before. */
function terminate(): Stopping | null {
  const [table, paths] = [processTable(), statePaths(process.env)];
  const found = findDaemons(table, paths).filter((daemon) => isStillDaemon(table, paths, daemon));
  for (const { pid } of found) sendTerm(pid);
  const [first] = found;
  return first === undefined ? null : { pid: first.pid, hasExited: async () => found.every(({ pid }) => isGone(pid)) };
}

function sendTerm(pid: number): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch (error) {
    // It has exited by itself since it was found.
    if (!isErrno(error, "ESRCH")) throw error;
  }
}

/** Throws if the daemon that answers has another version and its process is in another pid namespace. */
function refuseElsewhere(): void {
  const text = readIfReadable(statePaths(process.env).daemonFile, RUN_FILE_BYTES_MAX);
  const { namespace, host } = parseObject(text ?? "") ?? {};
  if (typeof namespace !== "string" || namespace === processTable().namespace()) return;
  const place = `${namespace.split(" ")[0]} of ${typeof host === "string" ? host : "an unknown host"}`;
  throw new PerdureError(
    "refused",
    `The daemon runs in another pid namespace (${place}) and cannot be stopped from here.`,
    { hint: "stop it there: perdure daemon stop" },
  );
}

function isGone(pid: number): boolean {
  return processTable().inspect(pid) === null;
}

async function isNobodyListening(): Promise<boolean> {
  try {
    (await connectToDaemon({ autostart: false })).close();
    return false;
  } catch (error) {
    if (isPerdureError(error) && error.code === "unavailable") return true;
    throw error;
  }
}

async function waitForExit({ pid, hasExited }: Stopping): Promise<void> {
  for (let waited = 0; waited < DAEMON_START_WAIT_MS; waited += 10) {
    if (await hasExited()) return;
    await sleep(10);
  }
  throw new PerdureError("timed-out", `The daemon (pid ${pid}) has not exited yet.`, {
    hint: `it may be suspended: kill -CONT ${pid}; or end it: kill -KILL ${pid} (workers keep running)`,
  });
}

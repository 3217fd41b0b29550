import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startDaemon } from "../../client/autostart.ts";
import { connectToDaemon } from "../../client/connect.ts";
import { DAEMON_EXIT_POLL_MS, DAEMON_EXIT_WAIT_MS, TAKEN_BACK_SHOWN_MAX } from "../../limits/index.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import type { DaemonStatus } from "../../protocol/records/admin.ts";
import { findDaemons, processTable } from "../../runtime/process/index.ts";
import { statePaths } from "../../state/paths.ts";
import type { Command, Invocation } from "../shared/command.ts";
import { printable, type Output } from "../shared/output.ts";
import { subcommand } from "../shared/arguments/subcommand.ts";
import { install, uninstall } from "./service.ts";
import { stopDaemon } from "./stop-daemon.ts";

const ACTIONS: Readonly<Record<string, (invocation: Invocation) => Promise<number | void>>> = {
  start,
  stop,
  status,
  install,
  uninstall,
};

export const daemon: Command = {
  summary: "start, stop or inspect the daemon, or install it as a service",
  usage: "start | stop | status | install | uninstall [options]",
  details: "The daemon starts by itself when needed and exits when nothing needs it; workers keep running without it.",
  subcommands: {
    start: "start it, unless it runs",
    stop: "stop it; workers keep running",
    status: "show whether it runs, and since when",
    install: "make it a service of your systemd, which brings the fleet back after a reboot",
    uninstall: "remove that service",
  },
  examples: [
    "perdure daemon status",
    "perdure daemon stop",
    "perdure daemon stop && perdure daemon start --restore FILE",
    "perdure daemon install",
  ],
  options: {
    "new-store": { about: "start: begin with an empty store, after a damaged one was set aside" },
    restore: {
      value: "FILE",
      about: "start: replace the store by this backup; the old store is kept beside it",
      completes: "file",
    },
  },
  words: [1, 1],

  async run(invocation) {
    return subcommand("daemon", ACTIONS, invocation.words[0] ?? "")(invocation);
  },
};

async function start({ values, out }: Invocation): Promise<void> {
  const before = await statusOrNull();
  const restoring = typeof values.restore === "string" ? resolve(values.restore) : null;
  if (restoring !== null || values["new-store"]) refuseWhileRunning(before?.pid ?? (await lastingDaemon()));
  const args = [...(values["new-store"] ? ["--new-store"] : []), ...(restoring ? ["--restore", restoring] : [])];
  if (before === null) await startDaemon(statePaths(process.env), process.env, args);
  const now = before ?? (await statusOrNull());
  if (now === null)
    throw new PerdureError("unavailable", "The daemon exited right after it started.", { hint: "perdure doctor" });
  out.result({ ...now, started: before === null }, () => `${before ? "already running" : "started"}: pid ${now.pid}`);
  if (restoring !== null) noteTakenBack(now.store.ranSinceBackup ?? [], out);
}

/** Says for whom the backup is older than their last run: their conversations are still with their vendors. */
function noteTakenBack(addresses: readonly string[], out: Output): void {
  if (addresses.length === 0) return;
  const [some, rest] = [addresses.slice(0, TAKEN_BACK_SHOWN_MAX), addresses.length - TAKEN_BACK_SHOWN_MAX];
  const names = rest > 0 ? `${some.join(", ")} and ${rest} more` : some.join(", ");
  out.note(
    printable(
      `These workers have run since the backup and are now as they were when it was made: ${names}.\n  Where one was in another conversation by then, or is not in the backup at all: perdure adopt lists the conversations, perdure adopt NAME --conversation ID takes one.`,
    ),
  );
}

function refuseWhileRunning(pid: number | null): void {
  if (pid === null) return;
  throw new PerdureError("conflict", `The daemon is running (pid ${pid}); its store cannot be replaced.`, {
    hint: "perdure daemon stop, then try again",
  });
}

async function stop({ out }: Invocation): Promise<void> {
  const pid = await stopDaemon();
  if (pid === null) return out.result({ running: false, stopped: false }, () => "not running");
  out.result({ running: false, stopped: true, pid }, () => `stopped: pid ${pid}; a worker that runs keeps running`);
}

async function status({ out }: Invocation): Promise<number> {
  const now = await statusOrNull();
  if (now === null) {
    refuseUnreachable();
    out.result({ running: false, pid: null, uptimeMs: 0 }, () => "not running; it starts when needed");
    return 0;
  }
  out.result(now, () => {
    const up = Math.round(now.uptimeMs / 1000);
    return `running: pid ${now.pid}${placeOf(now)}, perdure ${now.version}, up ${up} s, ${now.liveRuns} live runs, ${Math.round(now.rssBytes / 1e6)} MB\n  ${printable(now.socket)}`;
  });
  return 0;
}

/** Throws if a daemon of this state folder lives that nobody can reach. */
function refuseUnreachable(): void {
  const pid = unreachableDaemon();
  if (pid === null) return;
  const message = `The daemon (pid ${pid}) is running, but does not answer at ${statePaths(process.env).socket}.`;
  throw new PerdureError("unavailable", message, {
    hint: "try again in a second; else perdure daemon stop (workers keep running)",
  });
}

/** Returns the pid of a daemon of this state folder whose socket may be gone; null if there is none. */
function unreachableDaemon(): number | null {
  return findDaemons(processTable(), statePaths(process.env))[0]?.pid ?? null;
}

/** Like unreachableDaemon, but gives one that is on its way out the time to leave: its starter hears of a failure before that. */
async function lastingDaemon(): Promise<number | null> {
  for (let waited = 0; ; waited += DAEMON_EXIT_POLL_MS) {
    const pid = unreachableDaemon();
    if (pid === null || waited >= DAEMON_EXIT_WAIT_MS) return pid;
    await sleep(DAEMON_EXIT_POLL_MS);
  }
}

/** Says where the daemon is, if its pid is not one of this pid namespace. */
function placeOf({ namespace, host }: Partial<DaemonStatus>): string {
  if (namespace === undefined || namespace === processTable().namespace()) return "";
  return ` in another pid namespace (${namespace.split(" ")[0]} of ${host})`;
}

async function statusOrNull(): Promise<DaemonStatus | null> {
  try {
    const client = await connectToDaemon({ autostart: false });
    const now = await client.call("status", {});
    client.close();
    return now;
  } catch (error) {
    if (isPerdureError(error) && error.code === "unavailable") return null;
    throw error;
  }
}

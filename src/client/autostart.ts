import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Environment } from "../util/environment.ts";
import { DAEMON_START_WAIT_MS } from "../limits/index.ts";
import { errorFromBody, PerdureError, type ErrorBody } from "../protocol/errors.ts";
import { hintOf, verb } from "../protocol/hint.ts";
import { DIST, type StatePaths } from "../state/paths.ts";
import { makeSafeFolder } from "../state/safe-folder.ts";

/**
 * The variables that a daemon inherits from its first caller. A run's are not among them: a daemon that carried PERDURE_RUN
 * would look like a survivor of that run for ever.
 */
const DAEMON_ENVIRONMENT = [
  "HOME",
  "PATH",
  "USER",
  "LOGNAME",
  "LANG",
  "LC_ALL",
  "TZ",
  "XDG_STATE_HOME",
  "XDG_CONFIG_HOME",
];
/**
 * Without a bound V8 keeps some 100 MB more than it needs after a burst of calls. With less room for young objects than this, a
 * third of a burst's time is garbage collection. The daemon gives back what it does not need by a collection of its own
 * (src/daemon/server/idle-memory.ts), for which it needs the last flag.
 */
export const HEAP_FLAGS = ["--max-semi-space-size=8", "--heap-growing-percent=10", "--expose-gc"];
/** Settings of perdure that a daemon inherits; all but the first are for tests. */
const OWN_SETTINGS = [
  "PERDURE_HOME",
  "PERDURE_IDLE_EXIT_MS",
  "PERDURE_BOOT_ID_FILE",
  "PERDURE_RESTART_WAIT_MS",
  "PERDURE_HUNG_AFTER_MS",
];

type StartupMessage = { ready: true } | { taken: true } | { error: ErrorBody };

/** Starts a daemon and waits until it serves, or one that won the race to start. Throws the daemon's own reason if it cannot. */
export async function startDaemon(paths: StatePaths, env: Environment, args: string[] = []): Promise<void> {
  requireNodeVersion(process.versions.node);
  makeSafeFolder(paths.dir);
  makeSafeFolder(dirname(paths.log));
  const log = openSync(paths.log, "a", 0o600);
  const [node, ...flags] = daemonCommand();
  const child = spawn(node, [...flags, ...debugFlags(env), join(DIST, "daemon.cjs"), ...args], {
    detached: true,
    cwd: "/",
    env: daemonEnvironment(env),
    stdio: ["ignore", "pipe", log],
  });
  closeSync(log);
  const message = await Promise.race([startupMessage(child, paths.log), spawnFailure(child)]).finally(() => {
    child.stdout?.destroy();
    child.unref();
  });
  if ("error" in message) throw errorFromBody(message.error);
}

/** The program and the flags that the daemon's script runs on. */
export function daemonCommand(): [node: string, ...flags: string[]] {
  return [process.execPath, ...HEAP_FLAGS];
}

/** The flags with which stacks in the log name the files of src. */
function debugFlags(env: Environment): string[] {
  return env.PERDURE_DEBUG ? ["--enable-source-maps"] : [];
}

/** Checks the Node that the daemon will run on: its starter's, which for the library is the calling program's. */
function requireNodeVersion(version: string): void {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > 24 || (major === 24 && minor >= 15)) return;
  throw new PerdureError("version", `Node ${version} is too old for perdure's daemon; it needs 24.15 or newer.`, {
    hint: "run this program on Node 24",
  });
}

function daemonEnvironment(env: Environment): Record<string, string> {
  const kept = [...DAEMON_ENVIRONMENT, ...OWN_SETTINGS].map((name) => [name, env[name]] as const);
  return Object.fromEntries(kept.filter((entry): entry is readonly [string, string] => entry[1] !== undefined));
}

/** Rejects when the daemon cannot be spawned, for example because Node was upgraded under a running program; never resolves. */
function spawnFailure(child: ChildProcess): Promise<never> {
  return new Promise((_, reject) => {
    child.once("error", (cause) => {
      const message = `The daemon could not be started: ${cause.message}.`;
      reject(new PerdureError("unavailable", message, { hint: "restart this program", cause }));
    });
  });
}

/** Reads the one line that a daemon prints: that it serves, that another one does, or why it cannot. */
function startupMessage({ stdout }: ChildProcess, log: string): Promise<StartupMessage> {
  const failed = (why: string): PerdureError =>
    new PerdureError("unavailable", `The daemon ${why}.`, { hint: hintOf`its log is ${log}; ${verb("doctor")}` });
  return new Promise((resolve, reject) => {
    let text = "";
    const timer = setTimeout(() => reject(failed("did not start in time")), DAEMON_START_WAIT_MS);
    stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (!text.includes("\n")) return;
      clearTimeout(timer);
      resolve(JSON.parse(text) as StartupMessage);
    });
    stdout?.on("end", () => {
      clearTimeout(timer);
      reject(failed("exited before it was ready"));
    });
  });
}

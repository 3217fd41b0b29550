import { newToken } from "../../src/client/claim.ts";
import type { Target } from "../../src/protocol/calls/index.ts";
import { isAlive, processTable } from "../../src/runtime/process/index.ts";
import { Home } from "./home.ts";

/** Plays a campaign in a home, which is cleared whatever happens in it. */
export async function inHome<T>(play: (home: Home) => Promise<T>, env: Record<string, string> = {}): Promise<T> {
  const home = new Home(env);
  try {
    return await play(home);
  } finally {
    const daemon = processTable().inspect(home.daemonPid() ?? 0);
    await home.clear();
    // Where the command line itself is what broke, it stopped nothing; a daemon without a folder would stay for minutes.
    if (daemon && isAlive(processTable(), daemon)) process.kill(daemon.pid, "SIGKILL");
  }
}

/** A worker of the home's project, as a client names it. */
export function targetIn(home: Home, name: string): Target {
  return { project: null, name, here: { identity: home.project, root: home.project, base: "api" } };
}

/** The parameters with which a library client claims. */
export function clientClaim(
  home: Home,
  name: string,
  pid: number,
): {
  target: Target;
  kind: "client";
  pid: number;
  command: null;
  cwd: null;
  environment: Record<string, string>;
  token: string;
  ephemeral: false;
  vendor: null;
  fresh: false;
} {
  return {
    target: targetIn(home, name),
    kind: "client",
    pid,
    command: null,
    cwd: null,
    environment: {},
    token: newToken(),
    ephemeral: false,
    vendor: null,
    fresh: false,
  };
}

import { afterEach } from "vitest";
import { processTable } from "../../src/runtime/process/index.ts";
import { InstalledPersona } from "./persona.ts";
import type { Vendor } from "./persona-facts.ts";
import { eventually } from "./check.ts";
import { Home } from "./home.ts";

/** Returns a function that installs a vendor's persona in a new home; the homes are cleared after every test of the file. */
export function personaInstaller(): (vendor: Vendor) => InstalledPersona {
  const homes: Home[] = [];
  afterEach(async () => {
    for (const home of homes.splice(0)) await home.clear();
  });
  return (vendor) => {
    const home = new Home();
    homes.push(home);
    return new InstalledPersona(home, vendor);
  };
}

/** Kills the daemon with SIGKILL, as a crash would; resolves when its process is gone. */
export async function killDaemon(home: Home): Promise<void> {
  const pid = home.daemonPid();
  if (pid === null) throw new Error("no daemon runs");
  process.kill(pid, "SIGKILL");
  await eventually("the daemon's end", () => processTable().inspect(pid) === null);
}

/** The session's id in what the agent prints after `/new` and the like: `now in session ID, history: N turns`. */
export function sessionIdIn(said: string): string {
  const id = /now in session ([^ ,]+)/.exec(said)?.[1];
  if (id === undefined) throw new Error(`no session in ${JSON.stringify(said)}`);
  return id;
}

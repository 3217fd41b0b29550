import { afterEach } from "vitest";
import { processTable } from "../../../src/runtime/process/index.ts";
import { Costume } from "../../campaigns/support/costume.ts";
import type { Vendor } from "../../campaigns/support/costume-looks.ts";
import { eventually } from "../../campaigns/support/check.ts";
import { Home } from "../../support/home.ts";

/** Homes for the tests of one file, each with a vendor's costume in it, cleared after every test. */
export function scenes(): (vendor: Vendor) => Costume {
  const homes: Home[] = [];
  afterEach(async () => {
    for (const home of homes.splice(0)) await home.clear();
  });
  return (vendor) => {
    const home = new Home();
    homes.push(home);
    return new Costume(home, vendor);
  };
}

/** SIGKILL, as a crash would; resolves when nothing of it is left. */
export async function killDaemon(home: Home): Promise<void> {
  const pid = home.daemonPid();
  if (pid === null) throw new Error("no daemon runs");
  process.kill(pid, "SIGKILL");
  await eventually("the daemon's end", () => processTable().look(pid) === null);
}

/** The id an order inside the agent led to: `now in session ID, history: N turns`. */
export function idIn(said: string): string {
  const id = /now in session ([^ ,]+)/.exec(said)?.[1];
  if (id === undefined) throw new Error(`no session in ${JSON.stringify(said)}`);
  return id;
}

import { agentVendor } from "./agents.ts";
import type { ProcessTable } from "./process/index.ts";

const DEPTH_MAX = 64;

/**
 * Is the caller inside an agent that a run's own agent started? Seen from the run's wrapper downwards, the first agent
 * process (with the loaders and workers of the same vendor directly below it) is the run's own. If another agent stands
 * between that and the caller, the caller is a nested agent: it inherited the environment, not the identity.
 */
export function isNested(table: ProcessTable, callerPid: number, run: string): boolean {
  const vendors = lineageVendors(table, callerPid, run);
  const first = vendors.findIndex((vendor) => vendor !== null);
  if (first < 0) return false;
  const own = vendors[first];
  let end = first;
  while (vendors[end] === own) end++;
  return vendors.slice(end).some((vendor) => vendor !== null);
}

/** From the topmost process that still carries the run down to the caller: which vendor each one is. */
function lineageVendors(table: ProcessTable, callerPid: number, run: string): (string | null)[] {
  const vendors: (string | null)[] = [];
  let pid = callerPid;
  for (let depth = 0; depth < DEPTH_MAX; depth++) {
    const info = table.look(pid);
    if (info === null || table.variable(pid, "PERDURE_RUN") !== run) break;
    vendors.unshift(agentVendor(table.argv(pid)));
    pid = info.parentPid;
  }
  return vendors;
}

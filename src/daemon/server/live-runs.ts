import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileNameOf } from "../../protocol/foreign-id.ts";
import { liveRuns, processTable } from "../../runtime/process/index.ts";
import { runFifoState } from "../../runtime/process/run-fifo.ts";
import type { StatePaths } from "../../state/paths.ts";
import type { LiveRuns } from "../../store/restore-backup.ts";

/**
 * Returns the runs of a state folder that are alive, whatever its store says: those whose processes are seen, and those whose
 * fifo somebody has open, because their processes may be in a pid namespace that cannot be seen from here.
 */
export function liveRunsEverywhere({ socket, runs }: StatePaths): LiveRuns {
  const seen = liveRuns(processTable(), socket);
  const known = new Set([...seen.keys()].map(fileNameOf));
  const held = readdirSync(runs).filter((name) => !known.has(name) && runFifoState(join(runs, name)) === "held");
  return new Map<string, readonly number[]>([...seen, ...held.map((name) => [name, []] as const)]);
}

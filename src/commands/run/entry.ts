import { checkCwd } from "../../project/fleet/cwd.ts";
import { readFleet } from "../../project/fleet/read.ts";
import type { FoundProject } from "../../project/find.ts";
import { makeWorktree } from "../../project/worktree/make.ts";
import type { FleetEntry, Target } from "../../protocol/calls/index.ts";
import { nameKey } from "../../protocol/names.ts";
import { toFleetEntry } from "../shared/launch/fleet-entries.ts";
import type { Output } from "../shared/output.ts";
import { ensureTrust } from "../shared/launch/ensure-trust.ts";

/**
 * Returns the fleet file's entry for a worker that was never started; null if the file has none. Arguments after `--` that
 * begin with an option replace the entry's own.
 */
export async function entryForRun(
  found: FoundProject,
  { name, here, project }: Target,
  rest: readonly string[] | null,
  out: Output,
): Promise<FleetEntry | null> {
  if (project !== null || (rest !== null && rest[0]?.startsWith("-") !== true)) return null;
  const fleet = readFleet(found);
  const worker = fleet?.workers.find((each) => nameKey(each.name) === nameKey(name));
  if (!fleet || !worker) return null;
  await ensureTrust(fleet, here, false, out);
  if (worker.worktree) await makeWorktree(fleet.root, worker.worktree);
  checkCwd(fleet, worker);
  return toFleetEntry(rest === null ? worker : { ...worker, args: [...rest] }, fleet);
}

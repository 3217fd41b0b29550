import type { FleetEntry } from "../../protocol/calls/index.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import type { UpItem } from "../../protocol/records/fleet.ts";
import { realPath } from "../../state/paths.ts";
import { sessionById, sessionOfRun } from "../../store/conversations.ts";
import { workerById } from "../../store/workers.ts";
import type { House } from "../services.ts";
import { launchOf, mustWant } from "../launch/spec.ts";

/** What whoever brings a fleet up has to know of one that is up, and would not expect. */
type Told = Partial<Pick<UpItem, "reason" | "hint">>;

/** A conversation belongs to the folder it began in, whatever the file says by now. */
export function elsewhere(house: House, run: string, { name, cwd }: FleetEntry): Told {
  const began = sessionOfRun(house.db, run)?.launch_cwd;
  if (began === undefined || cwd === null || realPath(began) === realPath(cwd)) return {};
  const hint = `perdure restart ${name} --fresh begins one in ${cwd}`;
  return { reason: `its conversation goes on in ${began}`, hint };
}

/** One that runs is left alone: with what its entry said before, and in its conversation. */
export function leftAlone(house: House, id: number, entry: FleetEntry, fresh: boolean): Told {
  const { name, vendor } = entry;
  const old = outdated(house, id, entry, fresh);
  if (old.reason !== undefined || !fresh || vendor === null) return old;
  return { reason: "and left in its conversation", hint: `perdure restart ${name} --fresh` };
}

function outdated(house: House, id: number, entry: FleetEntry, fresh: boolean): Told {
  const { name, command, cwd, environment, vendor } = entry;
  const worker = workerById(house.db, id);
  if (worker?.command == null) return {};
  try {
    const now = launchOf(mustWant({ command, cwd, environment, vendor }, worker));
    if (LAUNCH_KEYS.every((key) => now[key] === worker[key])) return {};
  } catch (error) {
    if (!isPerdureError(error)) throw error;
    const reason = `and cannot be started with what perdure.toml says now: ${error.message}`;
    return { reason, hint: error.hint ?? null };
  }
  const bound = worker.session_id === null ? null : sessionById(house.db, worker.session_id);
  const anew = fresh || (bound !== null && bound.vendor !== (vendor?.name ?? null)) ? " --fresh" : "";
  return { reason: "with what perdure.toml said before", hint: `perdure stop ${name} && perdure up ${name}${anew}` };
}

/** Without the environment, which is another in each shell. */
const LAUNCH_KEYS = ["command", "cwd", "vendor", "declared"] as const;

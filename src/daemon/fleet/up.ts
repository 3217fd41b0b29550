import type { CallParams, CallResults } from "../../protocol/calls.ts";
import { asPerdureError, isPerdureError } from "../../protocol/errors.ts";
import type { UpItem } from "../../protocol/fleet.ts";
import { desire } from "../../store/fleet.ts";
import type { ProjectRow } from "../../store/projects.ts";
import { activeSaved } from "../../store/saved.ts";
import { workerById, type WorkerRow } from "../../store/workers.ts";
import type { CallContext } from "../calls/context.ts";
import { record, type House } from "../house.ts";
import { registerProject } from "../places.ts";
import { publishProjects } from "../publish.ts";
import { mustWant, storeWanted } from "../wanted.ts";
import { findOrCreate } from "../workers.ts";
import { enterSaved } from "./saved.ts";
import { assertTrusted } from "./trust.ts";

type FleetEntry = CallParams<"up">["workers"][number];

export interface Member {
  worker: WorkerRow;
  entry: FleetEntry;
}

/**
 * trusted? → names → the saved session, as a whole or not at all → desired → each started, or left as it is. What one of
 * them cannot do is said of that one; the others come up.
 */
export async function upCall(params: CallParams<"up">, context: CallContext): Promise<CallResults["up"]> {
  const { house } = context;
  assertTrusted(house, params);
  const { project, members } = await house.writer.write(() => nameAll(house, params));
  publishProjects(house);
  const anew = await enterSaved(house, project, members, params);
  await house.writer.write(() => {
    for (const { worker, entry } of members) wantIt(house, worker, entry);
  });
  const items = await Promise.all(
    members.map(async (member) => {
      const item = await bringUp(house, project, member, params.fresh || anew.has(member.worker.id));
      await context.send(item);
      return item;
    }),
  );
  const count = (outcome: UpItem["outcome"]): number => items.filter((item) => item.outcome === outcome).length;
  const session = activeSaved(house.db, project.id)?.name ?? null;
  return { started: count("started"), running: count("running"), refused: count("refused"), session };
}

/** Inside a change: every name of the fleet is a worker from now on, whether or not it can be started. */
function nameAll(house: House, params: CallParams<"up">): { project: ProjectRow; members: Member[] } {
  const project = registerProject(house, params.here);
  const members = params.workers.map((entry) => ({ worker: findOrCreate(house, project, entry.name, false), entry }));
  return { project, members };
}

function wantIt(house: House, worker: WorkerRow, entry: FleetEntry): void {
  const { group, restart, prompt, openFiles } = entry;
  const running = house.fleet.liveRun(worker.id) !== null;
  const after = running ? worker.generation - 1 : worker.generation;
  desire(house.db, worker.id, { group, restart, prompt, openFiles, after });
  // For the first time: a daemon that is killed before its turn leaves the next one something to start.
  if (worker.command === null) storeFirst(house, worker, entry);
  if (worker.desired === 0) record(house, "worker.up", { projectId: worker.project_id, workerId: worker.id });
}

function storeFirst(house: House, worker: WorkerRow, { command, cwd, environment, vendor }: FleetEntry): void {
  try {
    storeWanted(house, worker, mustWant({ command, cwd, environment, vendor }, worker));
  } catch (error) {
    if (!isPerdureError(error)) throw error; // said of this one when it is started
  }
}

async function bringUp(house: House, project: ProjectRow, { worker, entry }: Member, fresh: boolean): Promise<UpItem> {
  const { command, cwd, environment, vendor } = entry;
  try {
    const started = await house.fleet.bringUp(worker.id, { command, cwd, environment, vendor, fresh });
    const run = started?.run ?? house.fleet.liveRun(worker.id);
    return itemOf(house, project, worker, {
      outcome: started ? "started" : "running",
      run: run?.id ?? null,
      session: started?.session ?? null,
    });
  } catch (error) {
    if (!isPerdureError(error)) house.log(`up: ${worker.name}: ${String((error as Error).stack ?? error)}`);
    const { message, hint } = asPerdureError(error);
    await house.fleet.refused(worker, error);
    return itemOf(house, project, worker, { outcome: "refused", reason: message, hint: hint ?? null });
  }
}

export function itemOf(
  house: House,
  { slug }: ProjectRow,
  { id, name }: WorkerRow,
  what: Pick<UpItem, "outcome"> & Partial<UpItem>,
): UpItem {
  const generation = workerById(house.db, id)?.generation ?? 0;
  return { address: `${slug}/${name}`, name, run: null, generation, session: null, reason: null, hint: null, ...what };
}

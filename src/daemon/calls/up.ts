import type { CallParams, CallResults, FleetEntry } from "../../protocol/calls/index.ts";
import { asPerdureError, isPerdureError } from "../../protocol/errors.ts";
import type { UpItem } from "../../protocol/records/fleet.ts";
import { desire } from "../../store/fleet.ts";
import type { ProjectRow } from "../../store/projects.ts";
import { PENDING_PANE } from "../../store/runs.ts";
import { activeSaved } from "../../store/saved.ts";
import { workerById, type WorkerRow } from "../../store/workers.ts";
import type { CallContext } from "./context.ts";
import { record, type House } from "../services.ts";
import { registerProject } from "../names/lookup.ts";
import { publishProjects } from "../names/projects-index.ts";
import { mustWant, storeWanted } from "../launch/spec.ts";
import { findOrCreate } from "../names/workers.ts";
import { enterSaved } from "../saved/restore.ts";
import { elsewhere, leftAlone } from "../fleet/up-notes.ts";
import { assertTrusted } from "./trust.ts";

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
  const paths = params.workers.map(({ environment }) => environment.PATH ?? "");
  if (paths.length > 0) house.fleet.panes.server([...new Set(paths)].join(":")); // without tmux, one word for all of them
  const { project, members, refused } = await house.writer.write(() => nameAll(house, params));
  for (const item of refused) await context.send(item);
  publishProjects(house);
  const anew = await enterSaved(house, project, members, params);
  await house.writer.write(() => {
    for (const { worker, entry } of members) if (!isElsewhere(house, worker)) wantIt(house, worker, entry);
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
  return {
    started: count("started"),
    running: count("running"),
    refused: count("refused") + refused.length,
    session,
  };
}

/** Inside a change: every name of the fleet is a worker from now on, whether or not it can be started. */
function nameAll(house: House, params: CallParams<"up">): Named {
  const project = registerProject(house, params.here);
  const named: Named = { project, members: [], refused: [] };
  for (const entry of params.workers) {
    try {
      named.members.push({ worker: findOrCreate(house, project, entry.name, false), entry });
    } catch (error) {
      // A name that was given up for another, say. A saved session is entered as a whole or not at all.
      if (!isPerdureError(error) || params.session !== null || params.resume !== null) throw error;
      const { message, hint } = error;
      const nobody = { address: `${project.slug}/${entry.name}`, run: null, generation: 0, session: null };
      named.refused.push({ ...nobody, name: entry.name, outcome: "refused", reason: message, hint });
    }
  }
  return named;
}

interface Named {
  project: ProjectRow;
  members: Member[];
  refused: UpItem[];
}

/** Somebody has started it in a terminal of their own: it is theirs to end. */
function isElsewhere(house: House, { id }: WorkerRow): boolean {
  const run = house.fleet.liveRun(id);
  return run !== null && run.pane === null;
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
    if (started) {
      const { session } = started;
      const about = { session, ...elsewhere(house, started.run.id, entry) };
      return itemOf(house, project, worker, { ...about, outcome: "started", run: started.run.id });
    }
    const running = { outcome: "running" as const, run: run?.id ?? null };
    if (run !== null && run.pane === null) {
      const reason = `in a terminal of its own (pid ${run.pid}), and left there`;
      return itemOf(house, project, worker, { ...running, reason });
    }
    const inPane = run !== null && run.pane !== PENDING_PANE;
    return itemOf(house, project, worker, { ...running, ...(inPane && leftAlone(house, worker.id, entry, fresh)) });
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

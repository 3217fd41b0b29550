import type { CallParams, FleetEntry } from "../../protocol/calls/index.ts";
import { asPerdureError, isPerdureError, PerdureError } from "../../protocol/errors.ts";
import { hinted, hintOf, verb, type Hint } from "../../protocol/hint.ts";
import { formatAddress, nameKey, parseAddress } from "../../protocol/names.ts";
import type { UpItem } from "../../protocol/records/fleet.ts";
import { boundConversation } from "../../store/conversations.ts";
import { setDesired } from "../../store/fleet.ts";
import type { Project } from "../../store/projects.ts";
import { PENDING_PANE } from "../../store/runs.ts";
import { fleetSettingsOf, workerById, workerByName, type Worker } from "../../store/workers.ts";
import { recordEvent } from "../events.ts";
import { requireLaunchSpec, storeLaunchSpec, type ClaimInput } from "../launch/spec.ts";
import { projectOf, registerProject } from "../names/lookup.ts";
import { assertNotMoved } from "../names/moved.ts";
import { findOrCreateWorker } from "../names/workers.ts";
import type { FleetServices } from "./services.ts";
import { noteLeftRunning, noteLostVariables, noteMissing, noteOtherFolder } from "./up-notes.ts";

/** A worker together with its entry in the fleet file. */
export interface FleetMember {
  worker: Worker;
  entry: FleetEntry;
}

/** Makes a worker of every name of the fleet, inside a change, whether or not it can be started. */
export function nameMembers(
  services: FleetServices,
  params: CallParams<"up">,
  moved: ReadonlyMap<string, PerdureError>,
): NamedMembers {
  const project = registerProject(services, params.here);
  const named: NamedMembers = { project, members: [], refused: [] };
  for (const entry of params.workers) {
    try {
      const refusal = moved.get(entry.name);
      if (refusal) throw refusal;
      named.members.push({ worker: findOrCreateWorker(services, project, entry.name, false), entry });
    } catch (error) {
      // For example a former name. A saved session is entered completely or not at all.
      if (!isPerdureError(error) || params.session !== null || params.resume !== null) throw error;
      const { message } = error;
      const next = renamedHint(entry.name, error) ?? error.next;
      const item = { address: formatAddress(project.slug, entry.name), run: null, generation: 0, session: null };
      named.refused.push({ ...item, name: entry.name, outcome: "refused", reason: message, ...hinted(next) });
    }
  }
  return named;
}

/** The worker is called otherwise now, and the fleet file is not: `use NEW` would find nothing there. */
function renamedHint(name: string, { details }: PerdureError): Hint | null {
  const address = details?.renamedTo;
  if (typeof address !== "string") return null;
  const { name: now } = parseAddress(address);
  const [back, anew] = [verb("rename", now, name), verb("retire", name)];
  return hintOf`call it ${now} in perdure.toml as well, or give it its old name back: ${back}; a new worker of that name: ${anew}`;
}

/**
 * Returns the refusals of names that are new here only because their repository was moved. One of them refuses all that are new: a
 * plain program of the fleet would run twice, there and here.
 */
export async function movedMembers(
  services: FleetServices,
  { here, workers, fresh }: CallParams<"up">,
): Promise<ReadonlyMap<string, PerdureError>> {
  const refusals = new Map<string, PerdureError>();
  for (const { name } of fresh ? [] : workers) {
    try {
      await assertNotMoved(services, { project: null, here }, name, verb("up", name, "--fresh"));
    } catch (error) {
      if (!isPerdureError(error)) throw error;
      refusals.set(name, error);
    }
  }
  const [first] = refusals.values();
  const own = first && projectOf(services, { project: null, here });
  const isNew = (name: string): boolean => !own || workerByName(services.db, own.id, nameKey(name)) === null;
  if (first) for (const { name } of workers) if (!refusals.has(name) && isNew(name)) refusals.set(name, first);
  return refusals;
}

interface NamedMembers {
  project: Project;
  members: FleetMember[];
  refused: UpItem[];
}

/** Makes the member desired, inside a change, unless it runs in a terminal of a person, who will end it. */
export function desireMember(services: FleetServices, { worker, entry }: FleetMember): void {
  const run = services.fleet.liveRun(worker.id);
  const isInTurn = run?.turn === 1;
  if (run !== null && run.pane === null && !isInTurn) return;
  const { group, restart, prompt, openFiles, about = null, mode = "tmux", turnsFrom = null, activate = "mail" } = entry;
  const turns = mode === "turn" ? { mode, turnsFrom, activate } : {};
  // A turn ends by itself, and then a worker that is to be in a pane has to be started.
  const after = run !== null && !isInTurn ? worker.lease.generation - 1 : worker.lease.generation;
  setDesired(services.db, worker.id, { group, restart, prompt, openFiles, about, after, ...turns });
  // Stored before the first start: if this daemon is killed, the next one knows what to start.
  // A worker of turns is not started here: what its next turn starts is what is stored now. A run goes on with its own vendor.
  const isStored = mode === "turn" && (run === null || entry.vendor?.name === worker.vendor);
  if (worker.command === null || isStored) storeFirstLaunch(services, worker, entry);
  else if (run === null) services.environments.record(worker.id, entry);
  if (!worker.desired) recordEvent(services, "worker.up", { projectId: worker.projectId, workerId: worker.id });
}

function storeFirstLaunch(services: FleetServices, worker: Worker, entry: FleetEntry): void {
  try {
    storeLaunchSpec(services, worker, requireLaunchSpec(launchOf(entry), worker));
  } catch (error) {
    if (!isPerdureError(error)) throw error; // the start reports it
  }
}

export async function bringUpMember(
  services: FleetServices,
  project: Project,
  { worker, entry }: FleetMember,
  fresh: boolean,
): Promise<UpItem> {
  try {
    if (entry.mode === "turn") return await letSleep(services, project, { worker, entry }, fresh);
    const given = services.environments.forStart(workerById(services.db, worker.id) ?? worker, entry);
    const started = await services.fleet.bringUp(worker.id, { ...launchOf(entry), ...given, fresh });
    const run = started?.run ?? services.fleet.liveRun(worker.id);
    if (started) {
      const { session, lacks } = started;
      const lost = noteLostVariables(services, worker);
      const note = { ...lost, ...noteOtherFolder(services, started.run.id, entry), ...noteMissing(session, lacks) };
      return upItem(services, project, worker, { ...note, session, outcome: "started", run: started.run.id });
    }
    const running = { outcome: "running" as const, run: run?.id ?? null };
    if (run?.turn === 1) {
      const reason = "in a turn; it is started in a pane once that has ended";
      return upItem(services, project, worker, { ...running, reason });
    }
    if (run !== null && run.pane === null) {
      const reason = `in a terminal of its own (pid ${run.pid}), which was left as it is`;
      return upItem(services, project, worker, { ...running, reason });
    }
    const inPane = run !== null && run.pane !== PENDING_PANE;
    return upItem(services, project, worker, {
      ...running,
      ...(inPane && noteLeftRunning(services, worker.id, entry, fresh)),
    });
  } catch (error) {
    if (!isPerdureError(error)) services.log(`up: ${worker.name}: ${String((error as Error).stack ?? error)}`);
    const { message, next } = asPerdureError(error);
    await services.fleet.recordRefusal(worker, error);
    return upItem(services, project, worker, { outcome: "refused", reason: message, ...hinted(next) });
  }
}

/** Leaves a worker without a process until its mail begins a turn; one that somebody has open stays as it is. */
async function letSleep(
  services: FleetServices,
  project: Project,
  { worker, entry }: FleetMember,
  fresh: boolean,
): Promise<UpItem> {
  const run = services.fleet.liveRun(worker.id);
  if (run !== null && run.turn !== 1) {
    const reason = "somebody has it open; its mail begins turns once that has ended";
    return upItem(services, project, worker, { outcome: "running", run: run.id, reason });
  }
  const spec = requireLaunchSpec(launchOf(entry), worker);
  const adapter = spec.vendor?.adapter;
  if (!adapter?.turn) {
    const what = adapter ? `perdure knows no mode of ${adapter.vendor} without a terminal` : "it is a plain program";
    throw new PerdureError("refused", `${worker.name} cannot make turns: ${what}.`, {
      hint: 'set mode = "tmux" in perdure.toml',
    });
  }
  if (fresh) {
    const settings = { ...fleetSettingsOf(workerById(services.db, worker.id) ?? worker), beginsAnew: true };
    await services.writer.write(() => setDesired(services.db, worker.id, settings));
  }
  // Read again, because a saved session may have bound it to another one.
  const bound = boundConversation(services.db, workerById(services.db, worker.id));
  const session =
    bound && !fresh ? { vendor: bound.vendor, id: bound.vendorId, step: "resume" as const, restored: null } : null;
  return upItem(services, project, worker, { outcome: "asleep", run: run?.id ?? null, session });
}

/** Returns what an entry starts; its first prompt is kept with the settings of the fleet instead. */
function launchOf({ command, cwd, environment, scope, own, vendor }: FleetEntry): Omit<ClaimInput, "prompt"> {
  return { command, cwd, environment, scope, own, vendor };
}

export function upItem(
  services: FleetServices,
  { slug }: Project,
  { id, name }: Worker,
  fields: Pick<UpItem, "outcome"> & Partial<UpItem>,
): UpItem {
  const generation = workerById(services.db, id)?.lease.generation ?? 0;
  return {
    address: formatAddress(slug, name),
    name,
    run: null,
    generation,
    session: null,
    reason: null,
    hint: null,
    ...fields,
  };
}

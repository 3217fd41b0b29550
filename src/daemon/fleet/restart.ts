import type { CallParams } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { hintOf, verb } from "../../protocol/hint.ts";
import { formatAddress } from "../../protocol/names.ts";
import type { UpItem } from "../../protocol/records/fleet.ts";
import { boundConversation } from "../../store/conversations.ts";
import { setDesired } from "../../store/fleet.ts";
import type { Project } from "../../store/projects.ts";
import { fleetSettingsOf, workerById, type Worker } from "../../store/workers.ts";
import { locationOf } from "../conversations/probe/probe.ts";
import { drillWorker } from "../launch/drill.ts";
import { assertRecorded } from "../launch/recording.ts";
import { locationForNew, storedSpecOf } from "../launch/spec.ts";
import { assertWritable } from "../launch/writable.ts";
import { assertStopped } from "../names/claim-refusals.ts";
import type { FoundWorker } from "../names/lookup.ts";
import type { RunStopper } from "../runs/stop.ts";
import { stopFleetRun } from "./bring-down.ts";
import { upItem } from "./members.ts";
import type { FleetServices } from "./services.ts";
import { noteMissing } from "./up-notes.ts";

/** Stops the worker and starts it again in its pane and its conversation. */
export async function restartMember(
  services: FleetServices & { readonly stopper: RunStopper },
  { project, worker }: FoundWorker,
  params: CallParams<"restart">,
): Promise<UpItem> {
  if (worker.fleet === null) throw notUpError(worker);
  if (worker.fleet.mode === "turn") return letSleepAgain(services, project, worker, params);
  // Asked before the worker is stopped: without it there would be no next start.
  const recorded = services.environments.require(worker);
  assertRestartRecorded(services, formatAddress(project.slug, worker.name), worker, params.fresh);
  const before = services.fleet.liveRun(worker.id);
  if (before && services.runs.isElsewhere(before)) assertStopped(services, worker);
  if (before && !params.fresh) await assertResumable(services, formatAddress(project.slug, worker.name), worker);
  // A start is due from now on: if this daemon dies in between, the next one starts the worker.
  const settings = { ...fleetSettingsOf(worker), after: worker.lease.generation };
  await services.writer.write(() => setDesired(services.db, worker.id, settings));
  await services.fleet.suspendRestarts(worker.id);
  const run = services.fleet.liveRun(worker.id);
  if (run) await stopFleetRun(services, run, params);
  const input = { command: null, cwd: null, vendor: null, ...recorded, fresh: params.fresh };
  const started = await services.fleet.bringUp(worker.id, input).catch(async (error: unknown) => {
    await services.fleet.recordRefusal(worker, error);
    throw error;
  });
  return upItem(services, project, workerById(services.db, worker.id) ?? worker, {
    ...(started && noteMissing(started.session, started.lacks)),
    outcome: started ? "started" : "running",
    run: started?.run.id ?? null,
    session: started?.session ?? null,
  });
}

/** Clears what kept a worker of turns from its mail. What a person has open is ended; a turn that goes on is not disturbed. */
async function letSleepAgain(
  services: FleetServices & { readonly stopper: RunStopper },
  project: Project,
  worker: Worker,
  params: CallParams<"restart">,
): Promise<UpItem> {
  const settings = { ...fleetSettingsOf(worker), ...(params.fresh && { beginsAnew: true }) };
  await services.writer.write(() => setDesired(services.db, worker.id, settings));
  const run = services.fleet.liveRun(worker.id);
  if (run !== null && run.turn !== 1) await stopFleetRun(services, run, params);
  return upItem(services, project, workerById(services.db, worker.id) ?? worker, { outcome: "asleep" });
}

/**
 * Throws before the worker is stopped if it could not be resumed: a running program may have in its memory what is gone from disk. What
 * a start itself checks again, such as its environment, is left to it.
 */
async function assertResumable(services: FleetServices, address: string, worker: Worker): Promise<void> {
  const { checks } = await drillWorker(services, address, worker);
  const broken = checks.find(({ ok, check }) => !ok && check !== "environment");
  if (broken === undefined) return;
  throw new PerdureError("refused", `${address} was left running, because it could not be resumed: ${broken.detail}.`, {
    ...(broken.next !== undefined && { hint: broken.next }),
  });
}

/** Throws before the worker is stopped if its next start would be refused for what it would not record, or could not write. */
function assertRestartRecorded(services: FleetServices, address: string, worker: Worker, fresh: boolean): void {
  const spec = storedSpecOf(services, worker);
  if (spec?.vendor == null) return;
  const bound = fresh ? null : boundConversation(services.db, worker);
  assertRecorded(spec, bound ? locationOf(bound) : locationForNew(spec, spec.vendor), worker.name);
  assertWritable(address, worker, spec, bound);
}

function notUpError({ name }: Worker): PerdureError {
  return new PerdureError("conflict", `${name} was not brought up, so there is no pane to start it in.`, {
    hint: hintOf`${verb("up", name)}, or here: ${verb("run", name)}`,
    details: { notUp: true },
  });
}

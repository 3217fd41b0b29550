import type { CallParams } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import type { UpItem } from "../../protocol/records/fleet.ts";
import { setDesired } from "../../store/fleet.ts";
import { fleetSettingsOf, workerById, type Worker } from "../../store/workers.ts";
import type { FoundWorker } from "../names/lookup.ts";
import type { RunStopper } from "../runs/stop.ts";
import { stopFleetRun } from "./bring-down.ts";
import { upItem } from "./members.ts";
import type { FleetServices } from "./services.ts";

/** Stops the worker and starts it again in its pane and its conversation. */
export async function restartMember(
  services: FleetServices & { readonly stopper: RunStopper },
  { project, worker }: FoundWorker,
  params: CallParams<"restart">,
): Promise<UpItem> {
  if (worker.fleet === null) throw notUpError(worker);
  // A start is due from now on: if this daemon dies in between, the next one starts the worker.
  const settings = { ...fleetSettingsOf(worker), after: worker.lease.generation };
  await services.writer.write(() => setDesired(services.db, worker.id, settings));
  await services.fleet.suspendRestarts(worker.id);
  const run = services.fleet.liveRun(worker.id);
  if (run) await stopFleetRun(services, run, params);
  const environment = worker.environment;
  const input = { command: null, cwd: null, vendor: null, environment, fresh: params.fresh };
  const started = await services.fleet.bringUp(worker.id, input).catch(async (error: unknown) => {
    await services.fleet.recordRefusal(worker, error);
    throw error;
  });
  return upItem(services, project, workerById(services.db, worker.id) ?? worker, {
    outcome: started ? "started" : "running",
    run: started?.run.id ?? null,
    session: started?.session ?? null,
  });
}

function notUpError({ name }: Worker): PerdureError {
  return new PerdureError("conflict", `${name} was not brought up, so there is no pane to start it in.`, {
    hint: `perdure up ${name}, or here: perdure run ${name}`,
    details: { notUp: true },
  });
}

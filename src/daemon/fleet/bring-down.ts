import type { CallParams } from "../../protocol/calls/index.ts";
import { asPerdureError, PerdureError } from "../../protocol/errors.ts";
import { hinted, hintOf, verb } from "../../protocol/hint.ts";
import { formatAddress } from "../../protocol/names.ts";
import type { DownItem } from "../../protocol/records/fleet.ts";
import { clearDesired } from "../../store/fleet.ts";
import { markStopped, runById, type Run } from "../../store/runs.ts";
import { conversationOfRun } from "../../store/conversations.ts";
import { workersOfProject, type Worker } from "../../store/workers.ts";
import { recordEvent } from "../events.ts";
import { placeOf } from "../runs/elsewhere.ts";
import type { RunStopper } from "../runs/stop.ts";
import { displaceRun } from "../runs/takeover.ts";
import type { FleetServices } from "./services.ts";
import { projectOf, type FoundWorker } from "../names/lookup.ts";
import { clearPane, saveScreen } from "./screens.ts";

interface DownServices extends FleetServices {
  readonly stopper: RunStopper;
}

/** Stops one worker of a fleet, or says why that failed; others are stopped all the same. */
export async function bringDownMember(services: DownServices, found: FoundWorker, how: StopOptions): Promise<DownItem> {
  return bringDown(services, found, how).catch((error: unknown) => failedItem(services, found, error));
}

/** Lists the workers of the project that were brought up, or run in a pane. */
export function fleetWorkers(services: DownServices, params: CallParams<"down">): FoundWorker[] {
  const project = projectOf(services, params);
  if (project === null) return [];
  return workersOfProject(services.db, project.id)
    .filter(({ desired, holderRun: run }) => desired || (run !== null && runById(services.db, run)?.pane != null))
    .map((worker) => ({ project, worker, address: formatAddress(project.slug, worker.name) }));
}

type StopOptions = Pick<CallParams<"down">, "by" | "killAfterMs">;

/** Stops the worker. It is made undesired first, so that nothing restarts it meanwhile. */
async function bringDown(
  services: DownServices,
  { project, worker, address }: FoundWorker,
  how: StopOptions,
): Promise<DownItem> {
  const subject = { projectId: project.id, workerId: worker.id };
  await services.writer.write(() => {
    clearDesired(services.db, worker.id);
    if (worker.desired) recordEvent(services, "worker.down", subject, { by: how.by });
  });
  await services.fleet.suspendRestarts(worker.id);
  const run = services.fleet.liveRun(worker.id);
  if (run?.kind === "client") throw foreignClientError(address, worker.name, run);
  if (run && services.runs.isElsewhere(run)) throw await fenceElsewhere(services, worker, run, how.by);
  const killed = run && (await stopFleetRun(services, run, how));
  await logFailure(services, address, clearPane(services, services.fleet.tmux, worker.id));
  const outcome = killed === null ? "already stopped" : killed ? "killed" : "stopped";
  return { address, name: worker.name, outcome, run: run?.id ?? null, reason: null };
}

/** Fences a run that cannot be signalled from here, and makes the error that says so: the name stays held until it ends. */
async function fenceElsewhere(
  services: DownServices,
  { id, name }: Worker,
  run: Run,
  by: string,
): Promise<PerdureError> {
  await services.writer.write(() => {
    markStopped(services.db, run.id, by);
    displaceRun(services, id, by);
  });
  const message = `${run.id} is fenced, but it is in ${placeOf(run)}, and cannot be stopped from here.`;
  return new PerdureError("refused", message, {
    hint: hintOf`stop it there, or free its name: ${verb("takeover", name)}`,
  });
}

/** Makes the error for a library client, whose process perdure did not start: it can lose its name, but is not stopped. */
function foreignClientError(address: string, name: string, { pid }: Run): PerdureError {
  return new PerdureError("refused", `${address} is claimed by a program that perdure did not start (pid ${pid}).`, {
    hint: hintOf`take its name: ${verb("takeover", name)}`,
  });
}

/** Stops the run and waits until its conversation is in custody. Resolves to whether KILL was needed. */
export async function stopFleetRun(
  services: DownServices,
  run: Run,
  { by, killAfterMs }: StopOptions,
): Promise<boolean> {
  await services.writer.write(() => markStopped(services.db, run.id, by));
  const killed = await services.stopper.stop({ ...run, stoppedBy: by }, killAfterMs);
  await logFailure(services, run.id, saveScreen(services, services.fleet.tmux, run));
  const conversation = conversationOfRun(services.db, run.id);
  if (conversation) await services.conversations.finalCheckDone(conversation.id);
  return killed;
}

/** Logs a failure that must not prevent the stop. */
async function logFailure(services: DownServices, what: string, act: Promise<unknown>): Promise<void> {
  await act.catch((error: unknown) => services.log(`${what}: ${String(error)}`));
}

function failedItem(services: DownServices, { address, worker }: FoundWorker, error: unknown): DownItem {
  const run = services.fleet.liveRun(worker.id)?.id ?? null;
  const { message, next } = asPerdureError(error);
  return { address, name: worker.name, outcome: "failed", run, reason: message, ...hinted(next) };
}

import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { asPerdureError, PerdureError } from "../../protocol/errors.ts";
import { formatAddress } from "../../protocol/names.ts";
import type { DownItem } from "../../protocol/records/fleet.ts";
import { clearDesired } from "../../store/fleet.ts";
import { markStopped, runById, type Run } from "../../store/runs.ts";
import { conversationOfRun } from "../../store/conversations.ts";
import { workersOfProject } from "../../store/workers.ts";
import { recordEvent } from "../events.ts";
import type { Services } from "../services.ts";
import { findWorker, projectOf, type FoundWorker } from "../names/lookup.ts";
import { clearPane, saveScreen } from "../fleet/screens.ts";
import type { CallContext } from "./context.ts";

/** Brings down the workers named, else all that were brought up. Only processes that carry their run are signalled. */
export async function downCall(params: CallParams<"down">, context: CallContext): Promise<CallResults["down"]> {
  const { services } = context;
  const targets = params.targets
    ? params.targets.map((target) => findWorker(services, target))
    : fleetWorkers(services, params);
  const items = await Promise.all(
    targets.map(async (found) => {
      const item = await bringDown(services, found, params).catch((error: unknown) =>
        failedItem(services, found, error),
      );
      await context.send(item);
      return item;
    }),
  );
  await logFailure(services, "tmux", services.fleet.tmux.endIfEmpty());
  const count = (outcome: DownItem["outcome"]): number => items.filter((item) => item.outcome === outcome).length;
  return { stopped: count("stopped") + count("killed"), failed: count("failed"), count: items.length };
}

function fleetWorkers(services: Services, params: CallParams<"down">): FoundWorker[] {
  const project = projectOf(services, params);
  if (project === null) return [];
  return workersOfProject(services.db, project.id)
    .filter(({ desired, holderRun: run }) => desired || (run !== null && runById(services.db, run)?.pane != null))
    .map((worker) => ({ project, worker, address: formatAddress(project.slug, worker.name) }));
}

type StopOptions = Pick<CallParams<"down">, "by" | "killAfterMs">;

/** Stops the worker. It is made undesired first, so that nothing restarts it meanwhile. */
async function bringDown(
  services: Services,
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
  const killed = run && (await stopRun(services, run, how));
  await logFailure(services, address, clearPane(services, services.fleet.tmux, worker.id));
  const outcome = killed === null ? "stopped already" : killed ? "killed" : "stopped";
  return { address, name: worker.name, outcome, run: run?.id ?? null, reason: null };
}

/** Makes the error for a library client, whose process perdure did not start: it can lose its name, but is not stopped. */
function foreignClientError(address: string, name: string, { pid }: Run): PerdureError {
  return new PerdureError("refused", `${address} is claimed by a program that perdure did not start (pid ${pid}).`, {
    hint: `take its name: perdure takeover ${name}`,
  });
}

/** Stops the run and waits until its conversation is in custody. Resolves to whether KILL was needed. */
export async function stopRun(services: Services, run: Run, { by, killAfterMs }: StopOptions): Promise<boolean> {
  await services.writer.write(() => markStopped(services.db, run.id, by));
  const killed = await services.stopper.stop({ ...run, stoppedBy: by }, killAfterMs);
  await logFailure(services, run.id, saveScreen(services, services.fleet.tmux, run));
  const conversation = conversationOfRun(services.db, run.id);
  if (conversation) await services.conversations.finalCheckDone(conversation.id);
  return killed;
}

/** Logs a failure that must not prevent the stop. */
async function logFailure(services: Services, what: string, act: Promise<unknown>): Promise<void> {
  await act.catch((error: unknown) => services.log(`${what}: ${String(error)}`));
}

function failedItem(services: Services, { address, worker }: FoundWorker, error: unknown): DownItem {
  const run = services.fleet.liveRun(worker.id)?.id ?? null;
  const { message, hint } = asPerdureError(error);
  return { address, name: worker.name, outcome: "failed", run, reason: hint ? `${message} (${hint})` : message };
}

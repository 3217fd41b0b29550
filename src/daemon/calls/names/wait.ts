import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import { PerdureError } from "../../../protocol/errors.ts";
import { hintOf, startVerb, verb } from "../../../protocol/hint.ts";
import { commandForNeed } from "../../../protocol/records/needs.ts";
import type { WorkerSummary } from "../../../protocol/records/worker.ts";
import { isOnlyMailAfter, lastEventSeq } from "../../../store/events.ts";
import { workersByUidPrefix, workersOfProject, type Worker } from "../../../store/workers.ts";
import { findWorker, projectOf } from "../../names/lookup.ts";
import { needOf, summaryOf } from "../../notify/needs.ts";
import type { Services } from "../../services.ts";
import { commits } from "../commits.ts";
import type { CallContext } from "../context.ts";

type Until = CallParams<"wait">["until"];

/** Waits for what workers do, and looks again after every event that is not about mail: whatever ends the wait is one. */
export async function waitCall(params: CallParams<"wait">, context: CallContext): Promise<CallResults["wait"]> {
  const { services } = context;
  await services.runs.pollNow();
  const ids = workersOf(services, params);
  const over = AbortSignal.timeout(params.waitMs);
  let workers: WorkerSummary[] = [];
  let seen = -1;
  for await (const _ of commits({ services, closed: AbortSignal.any([context.closed, over]) })) {
    const newest = lastEventSeq(services.db);
    if (seen >= 0 && isOnlyMailAfter(services.db, seen)) continue;
    seen = newest;
    workers = ids().flatMap((id) => summaryOf(services, id) ?? []);
    const wanted = workers.filter((worker) => isWanted(worker, params.until));
    if (params.until === "needs-me" ? wanted.length > 0 : wanted.length === workers.length)
      return { done: true, workers: wanted };
    if (params.until === "idle") for (const worker of workers) assertCanIdle(services, worker);
  }
  if (over.aborted) return { done: false, workers };
  throw new PerdureError("unavailable", "The daemon is stopping.", { hint: "wait again" });
}

/** Returns a function that lists the workers to wait for: those that are named, or all of the project, later ones included. */
function workersOf(services: Services, params: CallParams<"wait">): () => number[] {
  const { targets, until } = params;
  if (targets !== null) {
    const ids = [...new Set(targets.map((target) => findWorker(services, target).worker.id))];
    return () => ids;
  }
  const all = (): Worker[] => {
    const project = projectOf(services, params);
    return project === null ? [] : workersOfProject(services.db, project.id);
  };
  if (until === "needs-me") return () => all().map(({ id }) => id);
  const running = all().filter((worker) => worker.holderRun !== null || (worker.desired && !isDownForGood(worker)));
  if (running.length === 0 && until === "idle")
    throw new PerdureError("conflict", "No worker of this project runs.", { hint: verb("up") });
  const ids = running.map(({ id }) => id);
  return () => ids;
}

/** Tells whether only a person can bring a worker without a run back: it is not at work, and others are not kept waiting for it. */
function isDownForGood({ onHold, unresumable }: Worker): boolean {
  return onHold !== null || unresumable !== null;
}

function isWanted(worker: WorkerSummary, until: Until): boolean {
  if (until === "needs-me") return needOf(worker) !== null;
  if (until === "ended") return worker.run === null && worker.state !== "starting" && worker.state !== "backing-off";
  // A worker that sleeps until asked has nothing to do; and mail that a bound holds back shows as on-hold: the agent itself is idle.
  return worker.state === "idle" || worker.state === "asleep" || (worker.state === "on-hold" && worker.run !== null);
}

/** A worker that has ended becomes idle only if somebody starts it; one that asks, only if somebody answers. */
function assertCanIdle(services: Services, worker: WorkerSummary): void {
  const { address, uid, state, run, attention } = worker;
  if (state === "starting" || state === "backing-off" || (run !== null && state !== "blocked")) return;
  const isOfFleet = workersByUidPrefix(services.db, uid).some(({ fleet }) => fleet !== null);
  const why = attention === null ? "" : `: ${attention}`;
  const help = (run !== null && commandForNeed(worker, address)) || startVerb(address, isOfFleet);
  throw new PerdureError("conflict", `${address} is ${state}${why}, so it will not become idle.`, {
    hint: hintOf`${help}, then wait again`,
  });
}

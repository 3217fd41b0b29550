import { displace } from "../../core/lease.ts";
import type { CallParams } from "../../protocol/calls.ts";
import type { TakeoverResult } from "../../protocol/results.ts";
import { markDisplaced, runById, type RunRow } from "../../store/runs.ts";
import { leaseOf, setLease, workerById } from "../../store/workers.ts";
import { record, type House } from "../house.ts";
import { findWorker } from "../places.ts";
import { stopDisplaced } from "../stop-run.ts";
import type { CallContext } from "./context.ts";

/** Fences first, so that the old run can change nothing any more; then tells it, stops it and frees the name. */
export async function takeoverCall(params: CallParams<"takeover">, context: CallContext): Promise<TakeoverResult> {
  const { house, actor } = context;
  const { address, worker } = findWorker(house, params.target);
  const by = actor.kind === "worker" ? actor.address : params.by;
  const run = await house.writer.write(() => fence(house, worker.id, by));
  const killed = run ? await stopDisplaced(house, run, params.killAfterMs) : false;
  const generation = workerById(house.db, worker.id)?.generation ?? worker.generation;
  return { address, displaced: run?.id ?? null, generation, killed };
}

/** Inside a change. Returns the run that has to go, or null when nobody holds the name. */
function fence(house: House, workerId: number, by: string): RunRow | null {
  const worker = workerById(house.db, workerId);
  if (worker === null) return null;
  const lease = leaseOf(worker);
  const run = lease.phase === "free" ? null : runById(house.db, lease.run);
  if (run === null || lease.phase === "displacing") return run;
  if (house.watch.processesOf(run).length === 0) {
    house.watch.finish(run);
    return null;
  }
  setLease(house.db, workerId, displace(lease));
  markDisplaced(house.db, run.id, house.now(), by);
  record(
    house,
    "run.displaced",
    { projectId: worker.project_id, workerId, run: run.id, generation: run.generation },
    { by },
  );
  return { ...run, displaced_by: by };
}

import type { CallParams } from "../../protocol/calls/index.ts";
import type { TakeoverResult } from "../../protocol/records/run.ts";
import { workerById } from "../../store/workers.ts";
import { findWorker } from "../names/lookup.ts";
import { displaceRun } from "../runs/takeover.ts";
import type { CallContext } from "./context.ts";

/** Fences the old run first, so that it can change nothing any more; then notifies it, stops it and frees the name. */
export async function takeoverCall(params: CallParams<"takeover">, context: CallContext): Promise<TakeoverResult> {
  const { services, actor } = context;
  const { address, worker } = findWorker(services, params.target);
  const by = actor.kind === "worker" ? actor.address : params.by;
  const run = await services.writer.write(() => displaceRun(services, worker.id, by));
  const killed = run ? await services.stopper.stop(run, params.killAfterMs) : false;
  const generation = workerById(services.db, worker.id)?.lease.generation ?? worker.lease.generation;
  return { address, displaced: run?.id ?? null, generation, killed };
}

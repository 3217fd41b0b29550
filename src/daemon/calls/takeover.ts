import type { CallParams } from "../../protocol/calls/index.ts";
import type { TakeoverResult } from "../../protocol/records/run.ts";
import { workerById } from "../../store/workers.ts";
import { findWorker } from "../names/lookup.ts";
import { displaceRun, stopRun } from "../runs/stop.ts";
import type { CallContext } from "./context.ts";

/** Fences first, so that the old run can change nothing any more; then tells it, stops it and frees the name. */
export async function takeoverCall(params: CallParams<"takeover">, context: CallContext): Promise<TakeoverResult> {
  const { house, actor } = context;
  const { address, worker } = findWorker(house, params.target);
  const by = actor.kind === "worker" ? actor.address : params.by;
  const run = await house.writer.write(() => displaceRun(house, worker.id, by));
  const killed = run ? await stopRun(house, run, params.killAfterMs) : false;
  const generation = workerById(house.db, worker.id)?.generation ?? worker.generation;
  return { address, displaced: run?.id ?? null, generation, killed };
}

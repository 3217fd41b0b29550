import type { CallParams } from "../../../protocol/calls/index.ts";
import type { TakeoverResult } from "../../../protocol/records/run.ts";
import { workerById } from "../../../store/workers.ts";
import { findWorker } from "../../names/lookup.ts";
import { takeOver } from "../../runs/takeover.ts";
import type { CallContext } from "../context.ts";

export async function takeoverCall(params: CallParams<"takeover">, context: CallContext): Promise<TakeoverResult> {
  const { services, actor } = context;
  const { address, worker } = findWorker(services, params.target);
  const by = actor.kind === "worker" ? actor.address : params.by;
  const { displaced, killed, leftIn } = await takeOver(services, worker.id, by, params.killAfterMs);
  const generation = workerById(services.db, worker.id)?.lease.generation ?? worker.lease.generation;
  return { address, displaced: displaced?.id ?? null, generation, killed, leftIn };
}

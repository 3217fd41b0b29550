import { standing } from "../../core/lease.ts";
import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { runById } from "../../store/runs.ts";
import { workerById } from "../../store/workers.ts";
import { assertOwn } from "../permissions/actor.ts";
import type { House } from "../services.ts";
import { commits } from "./commits.ts";
import type { CallContext } from "./context.ts";

/**
 * A client stays on the line for its lease: present as long as the connection is, and told when it lost the name.
 * After a daemon's restart the same call makes it present again.
 */
export async function holdCall(params: CallParams<"hold">, context: CallContext): Promise<CallResults["hold"]> {
  const { house } = context;
  assertOwn(house, params);
  context.holdWhileConnected(params.run);
  for await (const _ of commits(context)) {
    if (isCurrent(house, params)) continue;
    const displacedBy = runById(house.db, params.run)?.displacedBy ?? null;
    if (displacedBy !== null) await context.send({ displacedBy });
    return { held: false };
  }
  throw new PerdureError("unavailable", "The daemon is leaving; the lease is still yours.", { hint: "hold it again" });
}

function isCurrent(house: House, { run, generation }: CallParams<"hold">): boolean {
  const row = runById(house.db, run);
  const worker = row ? workerById(house.db, row.workerId) : null;
  return worker !== null && standing(worker.lease, run, generation) === "current";
}

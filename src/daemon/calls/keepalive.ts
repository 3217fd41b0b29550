import { standing } from "../../core/lease.ts";
import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { runById } from "../../store/runs.ts";
import { leaseOf, workerById } from "../../store/workers.ts";
import { assertOwn } from "../permissions/actor.ts";
import type { House } from "../services.ts";
import { commits } from "./commits.ts";
import type { CallContext } from "./context.ts";

/**
 * A client stays on the line for its lease: present as long as the connection is, and told when it lost the name.
 * After a daemon's restart the same call makes it present again.
 */
export async function keepaliveCall(
  params: CallParams<"keepalive">,
  context: CallContext,
): Promise<CallResults["keepalive"]> {
  const { house } = context;
  assertOwn(house, params);
  context.holdWhileConnected(params.run);
  for await (const _ of commits(context)) {
    if (isCurrent(house, params)) continue;
    const displacedBy = runById(house.db, params.run)?.displaced_by ?? null;
    if (displacedBy !== null) await context.send({ displacedBy });
    return { held: false };
  }
  throw new PerdureError("unavailable", "The daemon is stopping; the lease is still yours.", {
    hint: "call keepalive again",
  });
}

function isCurrent(house: House, { run, generation }: CallParams<"keepalive">): boolean {
  const row = runById(house.db, run);
  const worker = row ? workerById(house.db, row.worker_id) : null;
  return worker !== null && standing(leaseOf(worker), run, generation) === "current";
}

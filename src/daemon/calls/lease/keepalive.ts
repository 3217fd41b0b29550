import { leaseStanding } from "../../../core/lease.ts";
import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import { PerdureError } from "../../../protocol/errors.ts";
import { runById } from "../../../store/runs.ts";
import { workerById } from "../../../store/workers.ts";
import { assertOwn } from "../../permissions/actor.ts";
import type { Services } from "../../services.ts";
import { commits } from "../commits.ts";
import type { CallContext } from "../context.ts";

/**
 * Keeps a client present while its connection is open, and reports when it has lost the name. After a restart of the daemon
 * the same call makes the client present again.
 */
export async function keepaliveCall(
  params: CallParams<"keepalive">,
  context: CallContext,
): Promise<CallResults["keepalive"]> {
  const { services } = context;
  assertOwn(services, params);
  context.holdWhileConnected(params.run);
  for await (const _ of commits(context)) {
    if (isCurrent(services, params)) continue;
    const displacedBy = runById(services.db, params.run)?.displacedBy ?? null;
    if (displacedBy !== null) await context.send({ displacedBy });
    return { held: false };
  }
  throw new PerdureError("unavailable", "The daemon is stopping; the lease is still yours.", {
    hint: "call keepalive again",
  });
}

function isCurrent(services: Services, { run, generation }: CallParams<"keepalive">): boolean {
  const row = runById(services.db, run);
  const worker = row ? workerById(services.db, row.workerId) : null;
  return worker !== null && leaseStanding(worker.lease, run, generation) === "current";
}

import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import type { Transcript } from "../../protocol/records/conversation.ts";
import { programAsker } from "../../launch/ask-program.ts";
import { runById, type Run } from "../../store/runs.ts";
import { lastEntryOfRun } from "../../store/conversations.ts";
import { workerById, type Worker } from "../../store/workers.ts";
import { requirePresent } from "../../util/require-present.ts";
import { assertOwn } from "../permissions/actor.ts";
import type { LaunchServices } from "./services.ts";
import { newLocation, orderFor, repeatedOrder, forkSourceOf } from "./orders.ts";
import { requireLaunchSpec, storeLaunchSpec, type VendorSpec, type LaunchSpec } from "./spec.ts";
import { bindNewConversation, enterRun, recordTranscript } from "../conversations/bindings.ts";

/** The vendor has made a conversation for this run: it is the worker's from now on, and this is how to start in it. */
export async function bindMinted(
  services: LaunchServices,
  params: CallParams<"bindConversation">,
): Promise<CallResults["bindConversation"]> {
  const begun = await initialTranscript(services, params);
  const { run, order } = await services.writer.write(() => {
    const { run: found, worker, spec, vendor } = claimedRun(services, params);
    if (lastEntryOfRun(services.db, found.id)) {
      // Bound already, and the answer was lost.
      const again = repeatedOrder(services, { address: worker.name, worker, run: found, spec }).launch;
      if (again?.session?.id !== params.session) {
        throw new PerdureError("conflict", `${found.id} is in another conversation already.`);
      }
      return { run: found, order: again };
    }
    const place = newLocation(spec, vendor, forkSourceOf(services, worker));
    const conversation = bindNewConversation(services, worker, found, {
      ...place,
      vendorId: params.session,
      provenance: "minted",
    });
    if (begun.state === "good") recordTranscript(services, conversation, begun);
    enterRun(services, found, conversation, "new");
    storeLaunchSpec(services, worker, spec);
    return { run: found, order: orderFor(services, { worker, run: found, spec }, conversation, "new") };
  });
  if (runById(services.db, run.id)?.endedMs === null) services.runs.bound(run);
  return order;
}

/** What the vendor has written before anything was said: only what comes later is the run's own doing. */
function initialTranscript(services: LaunchServices, params: CallParams<"bindConversation">): Promise<Transcript> {
  const { spec, vendor, worker } = claimedRun(services, params);
  const place = newLocation(spec, vendor, forkSourceOf(services, worker));
  const { command, cwd, environment } = spec;
  const program = command.slice(0, vendor.programAt + 1);
  const ask = programAsker({ command: program, cwd, environment, variables: place.variables });
  return vendor.adapter.storage.probe({ ...place, id: params.session }, null, ask);
}

function claimedRun(services: LaunchServices, params: CallParams<"bindConversation">): ClaimedRun {
  assertOwn(services, params);
  const run = requirePresent(runById(services.db, params.run), `run ${params.run}`);
  const worker = requirePresent(workerById(services.db, run.workerId), `the worker of run ${run.id}`);
  const spec = requireLaunchSpec(params, worker);
  // The claimer mints before it starts anything; a running program has nothing to bind.
  if (services.runs.hasStarted(run))
    throw new PerdureError("refused", `${run.id} runs already.`, { hint: "perdure ls" });
  if (spec.vendor) return { run, worker, spec, vendor: spec.vendor };
  throw new PerdureError("usage", `${worker.name} was not claimed for a vendor's program.`);
}

interface ClaimedRun {
  run: Run;
  worker: Worker;
  spec: LaunchSpec;
  vendor: VendorSpec;
}

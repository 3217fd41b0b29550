import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { verb } from "../../protocol/hint.ts";
import type { Transcript } from "../../protocol/records/conversation.ts";
import { programAsker } from "../../launch/ask-program.ts";
import { runById, type Run } from "../../store/runs.ts";
import { boundConversation, lastEntryOfRun, type Conversation } from "../../store/conversations.ts";
import { workerById, type Worker } from "../../store/workers.ts";
import { requirePresent } from "../../util/require-present.ts";
import { assertOwn } from "../permissions/actor.ts";
import { bindNewConversation, enterRun, recordTranscript, wasCleared } from "../conversations/binding/bindings.ts";
import type { LaunchServices } from "./services.ts";
import { newLocation, orderFor, repeatedOrder, forkSourceOf } from "./orders.ts";
import { requireLaunchSpec, storeLaunchSpec, type VendorSpec, type LaunchSpec } from "./spec.ts";

/** Binds the worker to the conversation that the vendor has made for this run, and returns how to start in it. */
export async function bindMinted(
  services: LaunchServices,
  params: CallParams<"bindConversation">,
): Promise<CallResults["bindConversation"]> {
  const initial = await initialTranscript(services, params);
  const { run, order } = await services.writer.write(() => {
    const { run: found, worker, spec, vendor } = claimedRun(services, params);
    if (lastEntryOfRun(services.db, found.id)) {
      // The run was bound by an earlier call whose answer was lost.
      const repeated = repeatedOrder(services, { address: worker.name, worker, run: found, spec }).launch;
      if (repeated?.session?.id !== params.session) {
        throw new PerdureError("conflict", `${found.id} is already in another conversation.`);
      }
      return { run: found, order: repeated };
    }
    const location = newLocation(spec, vendor, sourceOf(services, params, worker));
    const conversation = bindNewConversation(services, worker, found, {
      ...location,
      vendorId: params.session,
      provenance: "minted",
      cleared: params.fresh !== true && wasCleared(boundConversation(services.db, worker)),
    });
    if (initial.state === "good") recordTranscript(services, conversation, initial);
    enterRun(services, found, conversation, "new");
    storeLaunchSpec(services, worker, spec);
    return { run: found, order: orderFor(services, { worker, run: found, spec }, conversation, "new") };
  });
  if (runById(services.db, run.id)?.endedMs === null) services.runs.bound(run);
  return order;
}

/** Probes what the vendor wrote before anything was said, so that only later growth counts as the run's. */
function initialTranscript(services: LaunchServices, params: CallParams<"bindConversation">): Promise<Transcript> {
  const { spec, vendor, worker } = claimedRun(services, params);
  const location = newLocation(spec, vendor, forkSourceOf(services, worker));
  const { command, cwd, environment } = spec;
  const program = command.slice(0, vendor.programAt + 1);
  const ask = programAsker(vendor.adapter, { command: program, cwd, environment, variables: location.variables });
  return vendor.adapter.storage.probe({ ...location, id: params.session }, null, ask);
}

/** Returns the conversation that the minted one is a branch of; a worker that starts over branches none. */
function sourceOf(
  services: LaunchServices,
  { fresh }: CallParams<"bindConversation">,
  worker: Worker,
): Conversation | null {
  return fresh === true ? null : forkSourceOf(services, worker);
}

function claimedRun(services: LaunchServices, params: CallParams<"bindConversation">): ClaimedRun {
  assertOwn(services, params);
  const run = requirePresent(runById(services.db, params.run), `run ${params.run}`);
  const worker = requirePresent(workerById(services.db, run.workerId), `the worker of run ${run.id}`);
  const spec = requireLaunchSpec(params, worker);
  // A claimer mints before it starts the program; a running program has nothing to bind.
  if (services.runs.hasStarted(run))
    throw new PerdureError("refused", `${run.id} is already running.`, { hint: verb("ls") });
  if (spec.vendor) return { run, worker, spec, vendor: spec.vendor };
  throw new PerdureError("usage", `${worker.name} was not claimed for a vendor's program.`);
}

interface ClaimedRun {
  run: Run;
  worker: Worker;
  spec: LaunchSpec;
  vendor: VendorSpec;
}

import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import type { Transcript } from "../../protocol/records/conversation.ts";
import { asker } from "../../launch/ask-program.ts";
import { runById, type RunRow } from "../../store/runs.ts";
import { lastSessionOfRun } from "../../store/conversations.ts";
import { workerById, type WorkerRow } from "../../store/workers.ts";
import { assertOwn } from "../permissions/actor.ts";
import type { House } from "../services.ts";
import { orderFor, orderOfRun, placeForNew, sourceOf } from "../launch/plan.ts";
import { mustWant, storeWanted, type VendorWanted, type Wanted } from "../launch/spec.ts";
import { bindNew, enter, noteTranscript } from "../conversations/bindings.ts";
import type { CallContext } from "./context.ts";

/** The vendor has made a conversation for this run: it is the worker's from now on, and this is how to start in it. */
export async function bindConversationCall(
  params: CallParams<"bindConversation">,
  { house }: Pick<CallContext, "house">,
): Promise<CallResults["bindConversation"]> {
  const begun = await begunTranscript(house, params);
  const { run, order } = await house.writer.write(() => {
    const { run: found, worker, wanted, vendor } = claimed(house, params);
    if (lastSessionOfRun(house.db, found.id)) {
      // Bound already, and the answer was lost.
      const again = orderOfRun(house, { address: worker.name, worker, run: found, wanted }).launch;
      if (again?.session?.id !== params.session) {
        throw new PerdureError("conflict", `${found.id} is in another conversation already.`);
      }
      return { run: found, order: again };
    }
    const place = placeForNew(wanted, vendor, sourceOf(house, worker));
    const session = bindNew(house, worker, found, { ...place, vendorId: params.session, provenance: "minted" });
    if (begun.state === "good") noteTranscript(house, session, begun);
    enter(house, found, session, "new");
    storeWanted(house, worker, wanted);
    return { run: found, order: orderFor(house, { worker, run: found, wanted }, session, "new") };
  });
  if (runById(house.db, run.id)?.ended_ms === null) house.sessions.follow(run);
  return order;
}

/** What the vendor has written before anything was said: only what comes later is the run's own doing. */
function begunTranscript(house: House, params: CallParams<"bindConversation">): Promise<Transcript> {
  const { wanted, vendor, worker } = claimed(house, params);
  const place = placeForNew(wanted, vendor, sourceOf(house, worker));
  const { command, cwd, environment } = wanted;
  const program = command.slice(0, vendor.programAt + 1);
  const ask = asker({ command: program, cwd, environment, variables: place.variables });
  return vendor.adapter.probe({ ...place, id: params.session }, null, ask);
}

function claimed(house: House, params: CallParams<"bindConversation">): Claimed {
  assertOwn(house, params);
  const run = runById(house.db, params.run);
  const worker = run && workerById(house.db, run.worker_id);
  if (!run || !worker) throw new Error(`run ${params.run} is current and not there`);
  const wanted = mustWant(params, worker);
  // The claimer mints before it starts anything; a running program has nothing to bind.
  if (house.watch.hasStarted(run)) throw new PerdureError("refused", `${run.id} runs already.`, { hint: "perdure ls" });
  if (wanted.vendor) return { run, worker, wanted, vendor: wanted.vendor };
  throw new PerdureError("usage", `${worker.name} was not claimed for a vendor's program.`);
}

interface Claimed {
  run: RunRow;
  worker: WorkerRow;
  wanted: Wanted;
  vendor: VendorWanted;
}

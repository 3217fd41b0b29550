import type { CallParams, CallResults } from "../../protocol/calls.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { runById } from "../../store/runs.ts";
import { lastSessionOfRun } from "../../store/sessions.ts";
import { workerById } from "../../store/workers.ts";
import { assertOwn } from "../actor.ts";
import { orderFor, orderOfRun } from "../launch.ts";
import { mustWant, placeFor, storeWanted } from "../wanted.ts";
import { bindNew, enter } from "../sessions.ts";
import type { CallContext } from "./context.ts";

/** The vendor has made a conversation for this run: it is the worker's from now on, and this is how to start in it. */
export async function bindCall(params: CallParams<"bind">, { house }: CallContext): Promise<CallResults["bind"]> {
  const { run, order } = await house.writer.write(() => {
    assertOwn(house, params);
    const found = runById(house.db, params.run);
    const worker = found && workerById(house.db, found.worker_id);
    if (!found || !worker) throw new Error(`run ${params.run} is current and not there`);
    const wanted = mustWant(params, worker);
    if (!wanted.vendor) throw new PerdureError("usage", `${worker.name} was not claimed for a vendor's program.`);
    if (lastSessionOfRun(house.db, found.id)) {
      // Bound already, and the answer was lost.
      const again = orderOfRun(house, { address: worker.name, worker, run: found, wanted }).launch;
      if (again?.session?.id !== params.session) {
        throw new PerdureError("conflict", `${found.id} is in another conversation already.`);
      }
      return { run: found, order: again };
    }
    const place = placeFor(wanted, wanted.vendor);
    const session = bindNew(house, worker, found, { ...place, vendorId: params.session, provenance: "minted" });
    enter(house, found, session, "new");
    storeWanted(house, worker, wanted);
    return { run: found, order: orderFor(house, { worker, run: found, wanted }, session, "new") };
  });
  house.sessions.follow(run);
  return order;
}

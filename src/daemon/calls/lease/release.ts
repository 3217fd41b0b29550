import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import { PerdureError } from "../../../protocol/errors.ts";
import { runById } from "../../../store/runs.ts";
import { assertOwn } from "../../permissions/actor.ts";
import type { CallContext } from "../context.ts";

/** Releases the holder's name. A displaced run is refused. */
export async function releaseCall(
  params: CallParams<"release">,
  { services }: CallContext,
): Promise<CallResults["release"]> {
  await services.writer.write(() => {
    assertOwn(services, params);
    const run = runById(services.db, params.run);
    if (run === null) return;
    if (run.kind === "run" && services.runs.hasStarted(run)) {
      throw new PerdureError("refused", `${run.id} is running; its name becomes free when it ends.`, {
        hint: "stop the program",
      });
    }
    services.runs.recordEnd(run, "released");
  });
  services.runs.untrack(params.run);
  return { released: true };
}

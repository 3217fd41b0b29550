import type { CallParams, CallResults } from "../../protocol/calls.ts";
import { runById } from "../../store/runs.ts";
import { assertCurrent } from "../actor.ts";
import type { CallContext } from "./context.ts";

/** The holder gives its name back. Fenced: a release by a run that was displaced changes nothing. */
export async function releaseCall(
  params: CallParams<"release">,
  { house }: CallContext,
): Promise<CallResults["release"]> {
  await house.writer.write(() => {
    assertCurrent(house, params.run, params.generation);
    const run = runById(house.db, params.run);
    if (run) house.watch.finish(run, true);
  });
  house.watch.forget(params.run);
  return { released: true };
}

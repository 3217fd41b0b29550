import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import { restartMember } from "../../fleet/restart.ts";
import { findWorker } from "../../names/lookup.ts";
import type { CallContext } from "../context.ts";

export async function restartCall(
  params: CallParams<"restart">,
  { services }: CallContext,
): Promise<CallResults["restart"]> {
  const found = findWorker(services, params.target);
  const item = await restartMember(services, found, params);
  // What kept its mail from beginning a turn is cleared.
  if (item.outcome === "asleep") services.turns.follow(found.worker);
  return item;
}

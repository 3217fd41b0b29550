import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { restartMember } from "../fleet/restart.ts";
import { findWorker } from "../names/lookup.ts";
import type { CallContext } from "./context.ts";

export function restartCall(params: CallParams<"restart">, { services }: CallContext): Promise<CallResults["restart"]> {
  return restartMember(services, findWorker(services, params.target), params);
}

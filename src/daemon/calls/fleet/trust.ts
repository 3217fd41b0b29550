import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import { checkTrust, recordTrust } from "../../fleet/trust.ts";
import type { CallContext } from "../context.ts";

export function trustCall(params: CallParams<"trust">, { services }: CallContext): Promise<CallResults["trust"]> {
  return recordTrust(services, params);
}

export async function checkTrustCall(
  params: CallParams<"checkTrust">,
  { services }: CallContext,
): Promise<CallResults["checkTrust"]> {
  return checkTrust(services, params);
}

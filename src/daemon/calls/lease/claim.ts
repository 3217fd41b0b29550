import type { ClaimGrant } from "../../../protocol/records/launch.ts";
import type { CallParams } from "../../../protocol/calls/index.ts";
import { claim } from "../../names/claim.ts";
import { scopeGivenBy } from "../../permissions/actor.ts";
import type { CallContext } from "../context.ts";

/** Claims a name for a process. A client keeps the name while it is connected, and for a while after. */
export async function claimCall(params: CallParams<"claim">, context: CallContext): Promise<ClaimGrant> {
  const grant = await claim(context.services, { ...params, scope: scopeGivenBy(context.actor, params) }, context);
  if (params.kind === "client") context.holdWhileConnected(grant.run);
  return grant;
}

import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import { bindMinted } from "../../launch/bind.ts";
import { scopeGivenBy } from "../../permissions/actor.ts";
import type { CallContext } from "../context.ts";

export function bindConversationCall(
  params: CallParams<"bindConversation">,
  { services, actor }: CallContext,
): Promise<CallResults["bindConversation"]> {
  return bindMinted(services, { ...params, scope: scopeGivenBy(actor, params) });
}

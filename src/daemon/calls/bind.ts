import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { bindMinted } from "../launch/bind.ts";
import type { CallContext } from "./context.ts";

export function bindConversationCall(
  params: CallParams<"bindConversation">,
  { services }: CallContext,
): Promise<CallResults["bindConversation"]> {
  return bindMinted(services, params);
}

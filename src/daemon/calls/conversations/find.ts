import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import { findAdoptable } from "../../conversations/probe/adoptable.ts";
import type { CallContext } from "../context.ts";

/** Streams the conversations that can be adopted. */
export async function findConversationsCall(
  params: CallParams<"findConversations">,
  context: CallContext,
): Promise<CallResults["findConversations"]> {
  const found = await findAdoptable(context.services, params);
  for (const each of found) await context.send(each);
  return { count: found.length };
}

import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import { adoptConversation } from "../../names/adopt.ts";
import { describeConversation } from "../../status/describe.ts";
import type { CallContext } from "../context.ts";

export async function adoptCall(params: CallParams<"adopt">, { services }: CallContext): Promise<CallResults["adopt"]> {
  const { address, worker, bound } = await adoptConversation(services, params);
  return { address, session: describeConversation(services, worker, bound) };
}

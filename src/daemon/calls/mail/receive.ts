import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import { OPERATOR } from "../../../protocol/records/mail.ts";
import type { MailboxReader } from "../../mail/offer.ts";
import { projectFor } from "../../mail/recipients.ts";
import { assertNotNested, senderOf } from "../../mail/sender.ts";
import { settleOffers, takeMail } from "../../mail/take.ts";
import type { CallContext } from "../context.ts";

export async function takeMailCall(
  params: CallParams<"takeMail">,
  context: CallContext,
): Promise<CallResults["takeMail"]> {
  const { services, closed } = context;
  const { max, bytesMax, waitMs, inHand } = params;
  const options = { max, bytesMax, waitMs, inHand, closed };
  return { messages: await takeMail(services, () => readerOf(context, params), options) };
}

function readerOf({ services, actor }: CallContext, params: CallParams<"takeMail">): MailboxReader {
  const sender = senderOf(services, actor, params);
  assertNotNested(params, sender);
  const { worker, run } = sender;
  return {
    projectId: projectFor(services, sender, params).id,
    to: worker?.id ?? null,
    run: run?.id ?? OPERATOR,
    generation: run?.generation ?? 0,
    paused: worker?.paused === true,
  };
}

export async function ackCall(
  params: CallParams<"ack">,
  { services, actor }: CallContext,
): Promise<CallResults["ack"]> {
  return services.writer.write(() => {
    const sender = senderOf(services, actor, params);
    assertNotNested(params, sender);
    const reader = { run: sender.run?.id ?? OPERATOR, generation: sender.run?.generation ?? 0 };
    return settleOffers(services, reader, params.ids, params.how);
  });
}

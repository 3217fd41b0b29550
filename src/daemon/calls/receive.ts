import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { OPERATOR } from "../../protocol/records/mail.ts";
import { countMessagesOnTheWay, messageById } from "../../store/messages.ts";
import { assertNoneMissing } from "../mail/integrity.ts";
import { offerNext, returnUnarrived, type MailboxReader } from "../mail/offer.ts";
import { projectFor } from "../mail/recipients.ts";
import { assertNotNested, senderOf } from "../mail/sender.ts";
import { transition } from "../mail/transition.ts";
import { mailboxKey, MailboxChange } from "../mail/mailbox-change.ts";
import type { CallContext } from "./context.ts";

/** Offers the next messages to the run, in order. A message that the run does not acknowledge in time is offered again. */
export async function takeMailCall(
  params: CallParams<"takeMail">,
  context: CallContext,
): Promise<CallResults["takeMail"]> {
  const { services, closed } = context;
  const deadline = services.monotonicMs() + params.waitMs;
  const { projectId, to } = readerOf(context, params);
  let { inHand } = params;
  for (;;) {
    // Listening begins first, so that a message that arrives during the read is not missed.
    const change = new MailboxChange(services, mailboxKey(projectId, to), deadline, closed);
    const messages = await services.writer
      .write(() => {
        const reader = readerOf(context, params);
        if (inHand && !reader.paused) returnUnarrived(services, reader, new Set(inHand));
        return offerNext(services, reader, params.max);
      })
      .catch((error: unknown) => {
        change.stop();
        throw error;
      });
    if (messages.length > 0) {
      change.stop();
      return { messages };
    }
    await assertNoneMissing(services, projectId, to, countMessagesOnTheWay(services.db, projectId, to));
    if ((await change.outcome) === "timed-out") return { messages };
    // The reader is gone, so nothing is offered.
    if (closed.aborted) return { messages: [] };
    // `inHand` holds for the first try only: another call of the same run may have taken messages since.
    inHand = undefined;
  }
}

function readerOf({ services, actor }: CallContext, params: CallParams<"takeMail">): MailboxReader {
  const sender = senderOf(services, actor, params);
  assertNotNested(params, sender);
  const { worker, run } = sender;
  return {
    projectId: projectFor(services, sender, { ...params, declared: [] }).id,
    to: worker?.id ?? null,
    run: run?.id ?? OPERATOR,
    generation: run?.generation ?? 0,
    paused: worker?.paused === true,
  };
}

/** Acknowledges messages that are offered to this very run; any other, or one that was returned meanwhile, is missed. */
export async function ackCall(
  params: CallParams<"ack">,
  { services, actor }: CallContext,
): Promise<CallResults["ack"]> {
  return services.writer.write(() => {
    const sender = senderOf(services, actor, params);
    assertNotNested(params, sender);
    const run = sender.run?.id ?? OPERATOR;
    const acked = params.ids.filter((id) => {
      const message = messageById(services.db, id);
      const own = message?.offerRun === run && message.offerGeneration === (sender.run?.generation ?? 0);
      return own && transition(services, message, params.how === "read" ? "read" : "inject", { run });
    });
    return { acked, missed: params.ids.filter((id) => !acked.includes(id)) };
  });
}

import type { MessageRecord } from "../../protocol/records/mail.ts";
import { countMessagesOnTheWay, messageById } from "../../store/messages.ts";
import { assertNoneMissing } from "./integrity.ts";
import { mailboxKey, MailboxChange } from "./mailbox-change.ts";
import { offerNext, returnUnarrived, type MailboxReader, type OfferBounds } from "./offer.ts";
import type { MailServices } from "./services.ts";
import { transition } from "./transition.ts";

export interface TakeOptions extends OfferBounds {
  /** How long to wait for a message when there is none. */
  waitMs: number;
  /** The messages that arrived earlier and are not settled: other offers of the reader come again, first. */
  inHand?: readonly string[] | undefined;
  /** Aborted when the reader is gone: then nothing is offered any more. */
  closed: AbortSignal;
}

/**
 * Offers the next messages of a mailbox to whoever reads it: a call, a hook, a tool or a turn. A message that the reader
 * does not settle in time is offered again. `findReader` is asked again in every change, because the reader may have lost
 * its name meanwhile; it throws then.
 */
export async function takeMail(
  services: MailServices,
  findReader: () => MailboxReader,
  { waitMs, inHand, closed, ...bounds }: TakeOptions,
): Promise<MessageRecord[]> {
  const deadline = services.monotonicMs() + waitMs;
  const { projectId, to } = findReader();
  let arrived = inHand;
  for (;;) {
    // Listening begins first, so that a message that arrives during the read is not missed.
    const change = new MailboxChange(services, mailboxKey(projectId, to), deadline, closed);
    const messages = await services.writer
      .write(() => {
        const reader = findReader();
        services.mail.recall(reader.to);
        if (arrived && !reader.paused) returnUnarrived(services, reader, new Set(arrived));
        return offerNext(services, reader, bounds);
      })
      .catch((error: unknown) => {
        change.stop();
        throw error;
      });
    if (messages.length > 0) {
      change.stop();
      return messages;
    }
    await assertNoneMissing(services, projectId, to, countMessagesOnTheWay(services.db, projectId, to));
    if ((await change.outcome) === "timed-out" || closed.aborted) return [];
    // `inHand` holds for the first try only: another call of the same run may have taken messages since.
    arrived = undefined;
  }
}

/**
 * Settles, inside a change, messages that are offered to exactly this reader: the model has seen them, or they were read.
 * Any other message, or one that was returned meanwhile, is missed.
 */
export function settleOffers(
  services: MailServices,
  { run, generation }: Pick<MailboxReader, "run" | "generation">,
  ids: readonly string[],
  how: "read" | "injected",
): { acked: string[]; missed: string[] } {
  const acked = ids.filter((id) => {
    const message = messageById(services.db, id);
    const isOwn = message?.offerRun === run && message.offerGeneration === generation;
    return isOwn && transition(services, message, how === "read" ? "read" : "inject", { run });
  });
  return { acked, missed: ids.filter((id) => !acked.includes(id)) };
}

import { OFFER_BYTES_PER_CALL, OFFERS_MAX } from "../../limits/index.ts";
import type { MessageRecord } from "../../protocol/records/mail.ts";
import { messageById, offersOfRun, queuedMessages } from "../../store/messages.ts";
import { describeMessage } from "./describe.ts";
import type { MailServices } from "./services.ts";
import { transition } from "./transition.ts";

/** A box, and the run that reads it. */
export interface MailboxReader {
  projectId: number;
  /** The worker whose box it is; null for the operator's. */
  to: number | null;
  run: string;
  generation: number;
  /** The worker reads no mail for now. */
  paused: boolean;
}

/** Offers, inside a change, the next messages of the box to its reader, in order. */
export function offerNext(services: MailServices, reader: MailboxReader, max: number): MessageRecord[] {
  if (reader.paused) return [];
  const { run, generation } = reader;
  const messages: MessageRecord[] = [];
  let bytes = 0;
  const next = queuedMessages(services.db, reader.projectId, reader.to, max);
  for (const message of next) {
    if (message.attempt >= OFFERS_MAX) {
      transition(services, message, "die", { run, reason: `offered ${message.attempt} times and never read` });
      continue;
    }
    // An answer that is too long for its frame would reach nobody, and its messages would be on offer all the same.
    bytes += bytesOnTheWire(describeMessage(services, message));
    if (messages.length > 0 && bytes > OFFER_BYTES_PER_CALL) break;
    transition(services, message, "offer", { run, generation });
    services.mail.startOfferDeadline(message.seq);
    const offered = messageById(services.db, message.id);
    if (offered) messages.push(describeMessage(services, offered));
  }
  // All of them were given up: the messages behind them are not kept waiting.
  return messages.length === 0 && next.length > 0 ? offerNext(services, reader, max) : messages;
}

/**
 * Takes back, inside a change, what was offered to the reader and is not among what it has in hand. The daemon died after
 * the offer and before the answer, and such a message must not come after a later one.
 */
export function returnUnarrived(services: MailServices, reader: MailboxReader, inHand: ReadonlySet<string>): void {
  for (const message of offersOfRun(services.db, reader.run)) {
    const ofThisBox = message.projectId === reader.projectId && message.toWorker === reader.to;
    if (message.state !== "offered" || inHand.has(message.id) || !ofThisBox) continue;
    transition(services, message, "return", { run: reader.run, reason: "it never arrived" });
  }
}

function bytesOnTheWire(message: MessageRecord): number {
  return Buffer.byteLength(JSON.stringify(message));
}

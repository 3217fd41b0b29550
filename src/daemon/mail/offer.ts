import { OFFER_BYTES_PER_CALL, OFFERS_MAX } from "../../limits/index.ts";
import type { MessageRecord } from "../../protocol/records/mail.ts";
import { messageById, offersOfRun, queuedMessages } from "../../store/messages.ts";
import { describeMessage } from "./describe.ts";
import type { MailServices } from "./services.ts";
import { transition, type TransitionServices } from "./transition.ts";

/** A mailbox and the run that reads it. */
export interface MailboxReader {
  projectId: number;
  /** The worker that the mailbox belongs to; null for the operator. */
  to: number | null;
  run: string;
  generation: number;
  /** The worker reads no mail for now. */
  paused: boolean;
}

export interface OfferBounds {
  max: number;
  /** The bytes of all messages together, as JSON; the first one is offered however long it is. */
  bytesMax?: number | undefined;
}

/** Offers, inside a change, the next messages of the mailbox to its reader, in order. */
export function offerNext(services: MailServices, reader: MailboxReader, bounds: OfferBounds): MessageRecord[] {
  if (reader.paused) return [];
  const { run, generation } = reader;
  const { max, bytesMax = OFFER_BYTES_PER_CALL } = bounds;
  const messages: MessageRecord[] = [];
  let bytes = 0;
  const next = queuedMessages(services.db, reader.projectId, reader.to, max);
  for (const message of next) {
    if (message.attempt >= OFFERS_MAX) {
      transition(services, message, "die", { run, reason: `offered ${message.attempt} times and never read` });
      continue;
    }
    // Of an answer that is too long not all messages would arrive, though they would count as offered.
    bytes += bytesOnTheWire(describeMessage(services, message));
    if (messages.length > 0 && bytes > bytesMax) break;
    transition(services, message, "offer", { run, generation });
    services.mail.startOfferDeadline(message.seq);
    const offered = messageById(services.db, message.id);
    if (offered) messages.push(describeMessage(services, offered));
  }
  // All of them died, so the messages behind them are offered.
  return messages.length === 0 && next.length > 0 ? offerNext(services, reader, bounds) : messages;
}

/**
 * Takes back, inside a change, messages that were offered to the reader but never arrived, because the daemon died before it
 * answered. They are offered again before later ones.
 */
export function returnUnarrived(services: MailServices, reader: MailboxReader, inHand: ReadonlySet<string>): void {
  for (const message of offersOfRun(services.db, reader.run)) {
    const isInMailbox = message.projectId === reader.projectId && message.toWorker === reader.to;
    if (message.state !== "offered" || inHand.has(message.id) || !isInMailbox) continue;
    // A hook or a tool has handed it over, and the conversation will show whether it arrived.
    if (!services.mail.hasOfferDeadline(message.seq)) continue;
    transition(services, message, "return", { run: reader.run, reason: "it never arrived" });
  }
}

function bytesOnTheWire(message: MessageRecord): number {
  return Buffer.byteLength(JSON.stringify(message));
}

/** Returns the messages that were offered to a run which ended or lost its name, so that the next run gets them. */
export function returnOffers(services: TransitionServices, runId: string): void {
  for (const message of offersOfRun(services.db, runId)) {
    // A message that the model has seen is not offered again, because the model may have acted on it.
    if (message.state === "injected") transition(services, message, "read", { run: runId, reason: "its run ended" });
    else transition(services, message, "return", { run: runId, reason: "its run ended first" });
  }
}

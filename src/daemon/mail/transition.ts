import { nextState, type MailEvent } from "../../core/mail.ts";
import { ON_THE_WAY, type MailState } from "../../protocol/records/mail.ts";
import {
  resetDelivery,
  changeMessage,
  messagesOnTheWay,
  unansweredMessages,
  type Message,
} from "../../store/messages.ts";
import { LIST_ROWS_MAX } from "../../limits/index.ts";
import { recordEvent } from "../events.ts";
import type { ChangeServices } from "../base-services.ts";
import { askKey, mailboxKey, OPERATOR_MAIL_KEY, statusLineKey } from "./mailbox-change.ts";

export interface TransitionServices extends ChangeServices {
  readonly mail: {
    /** The clock by which mail expires. */
    now(): number;
    notify(key: string): void;
  };
}

/** The run that brought the message to its new state, and why. */
interface TransitionCause {
  run: string | null;
  reason?: string | null;
  /** The generation of the run that a message is offered to. */
  generation?: number;
}

// Moves messages from state to state. Everything here runs inside a change.

/** Applies the event to the message; returns false, and changes nothing, when it no longer applies. */
export function transition(
  services: TransitionServices,
  message: Message,
  event: MailEvent,
  cause: TransitionCause,
): boolean {
  const state = nextState(message.state, event);
  if (state === null) return false;
  const change = { state, nowMs: services.mail.now(), run: cause.run, reason: cause.reason ?? null };
  changeMessage(services.db, message.seq, change, cause.generation ?? null);
  if (event === "redeliver") resetDelivery(services.db, message.seq);
  updateCounters(services, message, state);
  const subject = {
    projectId: message.projectId,
    ...(message.toWorker === null ? {} : { workerId: message.toWorker }),
    ...(cause.run === null ? {} : { run: cause.run }),
  };
  recordEvent(services, `mail.${state}`, subject, {
    id: message.id,
    from: message.fromName,
    ...(cause.reason ? { reason: cause.reason } : {}),
  });
  if (state === "queued") services.mail.notify(mailboxKey(message.projectId, message.toWorker));
  if (message.toWorker === null) services.mail.notify(OPERATOR_MAIL_KEY);
  services.mail.notify(askKey(message.id));
  if (message.toWorker !== null) services.mail.notify(statusLineKey(message.toWorker));
  return true;
}

function updateCounters(
  services: TransitionServices,
  { projectId: project, toWorker: to, state: before, body }: Message,
  now: MailState,
): void {
  const change = Number(ON_THE_WAY.has(now)) - Number(ON_THE_WAY.has(before));
  if (change !== 0) services.db.mailboxCounters.add(project, to, change, change * Buffer.byteLength(body));
}

/** Marks the messages to a worker that was retired as dead, and returns how many they were. */
export function deadLetterAll(
  services: TransitionServices,
  projectId: number,
  workerId: number,
  reason: string,
): number {
  for (let dead = 0; ;) {
    const remaining = [
      ...messagesOnTheWay(services.db, projectId, workerId, LIST_ROWS_MAX),
      // Messages that were read, but will never be answered.
      ...unansweredMessages(services.db, projectId, workerId, LIST_ROWS_MAX).filter(({ state }) => state === "read"),
    ];
    if (remaining.length === 0) return dead;
    dead += remaining.length;
    for (const message of remaining) transition(services, message, "die", { run: null, reason });
  }
}

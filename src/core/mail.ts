import type { MailState } from "../protocol/records/mail.ts";

/** An event in the life of a message; the table says from which states it leads to which. */
export type MailEvent =
  | "offer"
  | "inject"
  | "read"
  | "answer"
  | "return"
  | "expire"
  | "cancel"
  | "supersede"
  | "die"
  | "redeliver";

const TRANSITIONS: Readonly<Record<MailEvent, { from: readonly MailState[]; to: MailState }>> = {
  offer: { from: ["queued"], to: "offered" },
  inject: { from: ["offered"], to: "injected" },
  read: { from: ["offered", "injected"], to: "read" },
  // A reader who peeked without taking the message may answer it, too.
  answer: { from: ["queued", "offered", "injected", "read"], to: "answered" },
  // The run ended or took too long, so the message is offered again.
  return: { from: ["offered"], to: "queued" },
  expire: { from: ["queued", "offered"], to: "expired" },
  // A message that the model has seen can no longer be cancelled.
  cancel: { from: ["queued", "offered"], to: "cancelled" },
  supersede: { from: ["queued", "offered"], to: "superseded" },
  // A message that was read dies, too, if it expects an answer that nobody can give any more.
  die: { from: ["queued", "offered", "injected", "read"], to: "dead" },
  redeliver: { from: ["expired", "cancelled", "dead"], to: "queued" },
};

/** Returns the state after the event, or null when the event no longer applies. */
export function nextState(state: MailState, event: MailEvent): MailState | null {
  const { from, to } = TRANSITIONS[event];
  return from.includes(state) ? to : null;
}

/** The token bucket of one sender. */
export interface SendAllowance {
  tokens: number;
  atMs: number;
}

export function spendAllowance(
  allowance: SendAllowance | null,
  nowMs: number,
  { burst, perSecond }: { burst: number; perSecond: number },
): { allowance: SendAllowance; granted: boolean; waitMs: number } {
  const before = allowance ?? { tokens: burst, atMs: nowMs };
  const gained = (Math.max(0, nowMs - before.atMs) / 1000) * perSecond;
  const tokens = Math.min(burst, before.tokens + gained);
  if (tokens < 1)
    return { allowance: { tokens, atMs: nowMs }, granted: false, waitMs: ((1 - tokens) / perSecond) * 1000 };
  return { allowance: { tokens: tokens - 1, atMs: nowMs }, granted: true, waitMs: 0 };
}

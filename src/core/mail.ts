import type { MailState } from "../protocol/records/mail.ts";

/** What can happen to a message. */
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

const WAYS: Readonly<Record<MailEvent, { from: readonly MailState[]; to: MailState }>> = {
  offer: { from: ["queued"], to: "offered" },
  inject: { from: ["offered"], to: "injected" },
  read: { from: ["offered", "injected"], to: "read" },
  // Somebody who looked without taking may answer, too.
  answer: { from: ["queued", "offered", "injected", "read"], to: "answered" },
  // The run ended, or took too long: it is offered again.
  return: { from: ["offered"], to: "queued" },
  expire: { from: ["queued", "offered"], to: "expired" },
  // What the model has seen cannot be unsaid.
  cancel: { from: ["queued", "offered"], to: "cancelled" },
  supersede: { from: ["queued", "offered"], to: "superseded" },
  // One that was read dies, too, if it waits for an answer that nobody can give any more.
  die: { from: ["queued", "offered", "injected", "read"], to: "dead" },
  redeliver: { from: ["expired", "cancelled", "dead"], to: "queued" },
};

/** The state after the event; null when it does not apply any more. */
export function after(state: MailState, event: MailEvent): MailState | null {
  const way = WAYS[event];
  return way.from.includes(state) ? way.to : null;
}

/** Who waits for whose answer: a worker's id, or null for the operator. */
export interface Waiting {
  ask: string;
  from: number | null;
  to: number | null;
}

/**
 * The ask that would close a ring: somebody who waits, over any number of others, for the very one who is about to wait
 * for them. Null when nobody would wait for ever.
 */
export function ringClosedBy(from: number | null, to: number | null, waiting: Iterable<Waiting>): Waiting | null {
  // Nobody answers himself while he waits.
  if (from !== null && from === to) return { ask: "its own", from, to };
  const open = [...waiting];
  const seen = new Set<number | null>([to]);
  const queue: { at: number | null; first: Waiting | null }[] = [{ at: to, first: null }];
  for (let next = queue.shift(); next; next = queue.shift()) {
    for (const each of open) {
      if (each.from !== next.at) continue;
      const first = next.first ?? each;
      if (each.to === from) return first;
      if (seen.has(each.to)) continue;
      seen.add(each.to);
      queue.push({ at: each.to, first });
    }
  }
  return null;
}

/** A sender's allowance: so many at once, and so many more each second. */
export interface Allowance {
  tokens: number;
  atMs: number;
}

export function spend(
  allowance: Allowance | null,
  nowMs: number,
  { burst, perSecond }: { burst: number; perSecond: number },
): { allowance: Allowance; granted: boolean; waitMs: number } {
  const before = allowance ?? { tokens: burst, atMs: nowMs };
  const gained = (Math.max(0, nowMs - before.atMs) / 1000) * perSecond;
  const tokens = Math.min(burst, before.tokens + gained);
  if (tokens < 1)
    return { allowance: { tokens, atMs: nowMs }, granted: false, waitMs: ((1 - tokens) / perSecond) * 1000 };
  return { allowance: { tokens: tokens - 1, atMs: nowMs }, granted: true, waitMs: 0 };
}

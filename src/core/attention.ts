import type { Activity, BlockedReason, Outward } from "../protocol/session.ts";

/** What a worker does, as far as is known, and who said so. */
export interface Attention {
  activity: Activity | null;
  /** Of a blocked one, where it is known. */
  reason: BlockedReason | null;
  /** Its own process or hook, the title of its terminal, or what is on its screen: the earlier, the more it counts. */
  by: "itself" | "title" | "screen" | null;
  /** When it last told by itself; null for one that never did. Monotonic. */
  toldAtMs: number | null;
}

export const UNKNOWN: Attention = { activity: null, reason: null, by: null, toldAtMs: null };

/** A sign of its own: always believed. */
export function told(before: Attention, { activity, blocked }: Outward, nowMs: number): Attention {
  if (activity !== "blocked") return { activity, reason: null, by: "itself", toldAtMs: nowMs };
  // One that only says that it waits does not take back what it waits for.
  const known = before.activity === "blocked" && before.by === "itself" ? before.reason : null;
  return { activity, reason: blocked ?? known, by: "itself", toldAtMs: nowMs };
}

/**
 * The title that its terminal has now. One that tells by itself is believed more: its title tells only of a question, and
 * that the question is over; and not within `settleMs` of its own sign, because it is drawn later.
 */
export function titled(
  before: Attention,
  { activity, blocked }: Outward,
  { nowMs, settleMs }: { nowMs: number; settleMs: number },
): Attention {
  const { toldAtMs } = before;
  if (toldAtMs !== null && nowMs - toldAtMs < settleMs) return before;
  const next: Attention = { activity, reason: blocked ?? null, by: "title", toldAtMs };
  if (activity === "blocked") return before.activity === "blocked" ? before : next;
  // Of many titles nothing is what idleness looks like: it tells only after one that told something.
  if (activity === "idle" && before.by === null) return before;
  // A dialog at the start leaves the title as if nothing was.
  if (before.by === "screen") return activity === "busy" ? next : before;
  if (toldAtMs === null || before.by === "title") return next;
  // Some titles look idle while there is a question: only work shows that it was answered.
  return before.activity === "blocked" && activity === "busy" ? next : before;
}

/** The dialog that is on its screen now, or none: counts until it tells by itself, and for the reason it has not told. */
export function seen(before: Attention, dialog: BlockedReason | null): Attention {
  if (dialog === null) return before.by === "screen" ? { ...UNKNOWN, toldAtMs: before.toldAtMs } : before;
  if (before.activity === "blocked") return before.reason === null ? { ...before, reason: dialog } : before;
  if (before.toldAtMs !== null || before.activity === "busy") return before;
  return { activity: "blocked", reason: dialog, by: "screen", toldAtMs: null };
}

/** Worth telling: that somebody is needed, for what, and that nobody is any more. Turns are not: they come by the hundred. */
export function isNews(before: Attention, after: Attention): boolean {
  if (before.activity !== "blocked" && after.activity !== "blocked") return false;
  return before.activity !== after.activity || before.reason !== after.reason;
}

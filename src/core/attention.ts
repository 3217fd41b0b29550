import type { Activity, BlockedReason, Outward } from "../protocol/records/conversation.ts";

/** What a worker does, as far as is known, and who said so. */
export interface Attention {
  activity: Activity | null;
  /** Of a blocked one, where it is known. */
  reason: BlockedReason | null;
  /** Its own process or hook, the title of its terminal, or what is on its screen: the earlier, the more it counts. */
  by: "itself" | "title" | "screen" | null;
  /** When it last told by itself; null for one that never did. Monotonic. */
  toldAtMs: number | null;
  /** It has told of more than that it is there: what comes up before the first turn cannot be on its screen any more. */
  worked: boolean;
}

export const UNKNOWN: Attention = { activity: null, reason: null, by: null, toldAtMs: null, worked: false };

/** A sign of its own: always believed, except that it may say that it is idle with a dialog in front of everything. */
export function afterSign(before: Attention, { activity, blocked }: Outward, nowMs: number): Attention {
  if (activity === "idle" && before.by === "screen") return { ...before, toldAtMs: nowMs };
  const worked = before.worked || activity !== "idle";
  // One that only says that it waits does not take back what it waits for.
  const known = before.activity === "blocked" && before.by === "itself" ? before.reason : null;
  const reason = activity === "blocked" ? (blocked ?? known) : null;
  return { activity, reason, by: "itself", toldAtMs: nowMs, worked };
}

/**
 * The title that its terminal has now. One that tells by itself is believed more: its title tells only of a question, and
 * that the question is over; and not within `settleMs` of its own sign, because it is drawn later.
 */
export function afterTitle(
  before: Attention,
  { activity, blocked }: Outward,
  { nowMs, settleMs }: { nowMs: number; settleMs: number },
): Attention {
  const { toldAtMs } = before;
  if (toldAtMs !== null && nowMs - toldAtMs < settleMs) return before;
  const worked = before.worked || activity !== "idle";
  const next: Attention = { activity, reason: blocked ?? null, by: "title", toldAtMs, worked };
  if (activity === "blocked") return before.activity === "blocked" ? before : next;
  // Of many titles nothing is what idleness looks like: it tells only after one that told something. A dialog at the start
  // leaves the title like that, too.
  if (activity === "idle" && (before.by === null || before.by === "screen")) return before;
  if (toldAtMs === null || before.by === "title" || before.by === "screen") return next;
  // Some titles look idle while there is a question: only work shows that it was answered.
  return before.activity === "blocked" && activity === "busy" ? next : before;
}

/** The dialog that is on its screen now, or none: counts before the first turn, and for the reason it has not told. */
export function afterScreen(before: Attention, dialog: BlockedReason | null): Attention {
  if (dialog === null) return before.by === "screen" ? { ...UNKNOWN, toldAtMs: before.toldAtMs } : before;
  if (before.by === "screen") return { ...before, reason: dialog };
  if (before.activity === "blocked") return before.reason === null ? { ...before, reason: dialog } : before;
  return before.worked ? before : { ...before, activity: "blocked", reason: dialog, by: "screen" };
}

/** Worth telling: that somebody is needed, for what, and that nobody is any more. Turns are not: they come by the hundred. */
export function isNews(before: Attention, after: Attention): boolean {
  if (before.activity !== "blocked" && after.activity !== "blocked") return false;
  return before.activity !== after.activity || before.reason !== after.reason;
}

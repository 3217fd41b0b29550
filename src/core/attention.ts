import type { Activity, BlockedReason, Outward } from "../protocol/records/conversation.ts";

/** The activity of a worker, as far as it is known, and its source. */
export interface Attention {
  activity: Activity | null;
  /** Why a blocked worker is blocked; null where that is not known. */
  reason: BlockedReason | null;
  /** The agent's own process or hook, the title of its terminal, or its screen; an earlier source outranks a later one. */
  source: "agent" | "title" | "screen" | null;
  /** Monotonic time of the agent's own last sign; null before the first one. */
  reportedAtMs: number | null;
  /** The agent has shown more than its presence, so a start-up dialog can no longer be on its screen. */
  hasWorked: boolean;
}

export const UNKNOWN: Attention = { activity: null, reason: null, source: null, reportedAtMs: null, hasWorked: false };

/** Applies the agent's own sign, which always counts, except that "idle" does not clear a dialog seen on the screen. */
export function afterSign(before: Attention, { activity, blocked }: Outward, nowMs: number): Attention {
  if (activity === "idle" && before.source === "screen") return { ...before, reportedAtMs: nowMs };
  const hasWorked = before.hasWorked || activity !== "idle";
  // A sign that says "blocked" without a reason does not clear the reason of an earlier one.
  const knownReason = before.activity === "blocked" && before.source === "agent" ? before.reason : null;
  const reason = activity === "blocked" ? (blocked ?? knownReason) : null;
  return { activity, reason, source: "agent", reportedAtMs: nowMs, hasWorked };
}

/**
 * Applies the current title of the agent's terminal. For an agent that sends signs, the title only starts and ends a
 * question, and it is ignored within `settleMs` of a sign, because titles are drawn later.
 */
export function afterTitle(
  before: Attention,
  { activity, blocked }: Outward,
  { nowMs, settleMs }: { nowMs: number; settleMs: number },
): Attention {
  const { reportedAtMs } = before;
  if (reportedAtMs !== null && nowMs - reportedAtMs < settleMs) return before;
  const hasWorked = before.hasWorked || activity !== "idle";
  const next: Attention = { activity, reason: blocked ?? null, source: "title", reportedAtMs, hasWorked };
  if (activity === "blocked") return before.activity === "blocked" ? before : next;
  // Many agents show idleness as a title without a mark, and so does a start-up dialog: an idle title means something
  // only after a title that showed activity.
  if (activity === "idle" && (before.source === null || before.source === "screen")) return before;
  if (reportedAtMs === null || before.source === "title" || before.source === "screen") return next;
  // Some titles look idle while a question is open: only a busy title shows that it was answered.
  return before.activity === "blocked" && activity === "busy" ? next : before;
}

/** Applies the dialog on the agent's screen, or its absence. A dialog counts before the first turn, and as a missing reason. */
export function afterScreen(before: Attention, dialog: BlockedReason | null): Attention {
  if (dialog === null) return before.source === "screen" ? { ...UNKNOWN, reportedAtMs: before.reportedAtMs } : before;
  if (before.source === "screen") return { ...before, reason: dialog };
  if (before.activity === "blocked") return before.reason === null ? { ...before, reason: dialog } : before;
  return before.hasWorked ? before : { ...before, activity: "blocked", reason: dialog, source: "screen" };
}

/** Whether somebody is needed now, for another reason, or no longer. Turns are not reported: they come by the hundred. */
export function isWorthReporting(before: Attention, after: Attention): boolean {
  if (before.activity !== "blocked" && after.activity !== "blocked") return false;
  return before.activity !== after.activity || before.reason !== after.reason;
}

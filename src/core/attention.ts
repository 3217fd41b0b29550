import type { Activity, BlockedReason, Outward } from "../protocol/records/conversation.ts";

/** The activity of a worker, as far as it is known, and its source. */
export interface Attention {
  activity: Activity | null;
  /** Why a blocked worker is blocked; null where that is not known. */
  reason: BlockedReason | null;
  /** The program's own words for what blocks it; null where it has none. */
  words: string | null;
  /** The program's own words that it no longer records the conversation, whatever it does; null as long as nobody knows that. */
  unrecorded: string | null;
  /** The agent's own process or hook, the title of its terminal, or its screen; an earlier source outranks a later one. */
  source: "agent" | "title" | "screen" | null;
  /** Monotonic time of the agent's own last sign; null before the first one. */
  reportedAtMs: number | null;
  /** The agent has shown more than its presence, so a start-up dialog can no longer be on its screen. */
  hasWorked: boolean;
}

export const UNKNOWN: Attention = {
  activity: null,
  reason: null,
  words: null,
  unrecorded: null,
  source: null,
  reportedAtMs: null,
  hasWorked: false,
};

/** Applies the agent's own sign, which always counts, except that "idle" does not clear a dialog seen on the screen. */
export function afterSign(before: Attention, { activity, blocked, words }: Outward, nowMs: number): Attention {
  if (activity === "idle" && before.source === "screen") return { ...before, reportedAtMs: nowMs };
  // A turn that failed has ended, too: only the next one shows that what blocked the agent is over.
  if (activity === "idle" && isStanding(before)) return { ...before, reportedAtMs: nowMs };
  const hasWorked = before.hasWorked || activity !== "idle";
  // A sign that says "blocked" without a reason does not clear the reason of an earlier one.
  const knownReason = before.activity === "blocked" && before.source === "agent" ? before.reason : null;
  const reason = activity === "blocked" ? (blocked ?? knownReason) : null;
  const said = activity === "blocked" ? (words ?? null) : null;
  return { ...before, activity, reason, words: said, source: "agent", reportedAtMs: nowMs, hasWorked };
}

/** Tells whether a login or a limit made the agent's last turn fail. */
export function isStanding({ activity, reason }: Attention): boolean {
  return activity === "blocked" && (reason === "login" || reason === "limit");
}

/**
 * Returns why a person is needed before an agent that ended so can go on: in the agent's own words, or as its last screen says, or,
 * where neither has words, by the reason alone. Null if nothing keeps it from going on.
 */
export function holdReason(last: Attention | null, onScreen: string | null): string | null {
  if (last === null || !isStanding(last)) return onScreen;
  return last.words ?? onScreen ?? (last.reason === "login" ? "it has no valid login" : "its limit is used up");
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
  const next: Attention = { ...before, activity, reason: blocked ?? null, words: null, source: "title", hasWorked };
  if (activity === "blocked") return before.activity === "blocked" ? before : next;
  // Many agents show idleness as a title without a mark, and so does a start-up dialog: an idle title means something
  // only after a title that showed activity.
  if (activity === "idle" && (before.source === null || before.source === "screen" || isStanding(before)))
    return before;
  if (reportedAtMs === null || before.source === "title" || before.source === "screen") return next;
  // Some titles look idle while a question is open: only a busy title shows that it was answered.
  return before.activity === "blocked" && activity === "busy" ? next : before;
}

/** A block that the screen of an agent shows: a dialog in front of everything, or the error that ended its last turn. */
export type ScreenBlock = { dialog: BlockedReason } | { error: BlockedReason; words: string };

/**
 * Applies the block on the agent's screen, or its absence. A dialog counts before the first turn, and as a missing reason. An
 * error counts when a turn of this run has ended: one from an earlier run is only history that was shown again.
 */
export function afterScreen(before: Attention, shown: ScreenBlock | null): Attention {
  if (shown === null) return before.source === "screen" ? withoutBlock(before) : before;
  if ("error" in shown) return afterError(before, shown);
  const { dialog } = shown;
  if (before.source === "screen") return { ...before, reason: dialog, words: null };
  if (before.activity === "blocked") return before.reason === null ? { ...before, reason: dialog } : before;
  return before.hasWorked ? before : { ...before, activity: "blocked", reason: dialog, source: "screen" };
}

/** An agent that has worked and shows a screen again waits for input, as it did before the error. */
function withoutBlock({ hasWorked, reportedAtMs, unrecorded }: Attention): Attention {
  return hasWorked
    ? { ...UNKNOWN, activity: "idle", source: "agent", hasWorked, reportedAtMs, unrecorded }
    : { ...UNKNOWN, reportedAtMs, unrecorded };
}

function afterError(before: Attention, { error, words }: { error: BlockedReason; words: string }): Attention {
  const counts = before.hasWorked && (before.activity === "idle" || before.source === "screen");
  return counts ? { ...before, activity: "blocked", reason: error, words, source: "screen" } : before;
}

/** Whether somebody is needed now, for another reason, or no longer. Turns that are recorded need nobody. */
export function isWorthReporting(before: Attention, after: Attention): boolean {
  if (before.unrecorded !== after.unrecorded) return true;
  if (before.activity !== "blocked" && after.activity !== "blocked") return false;
  return before.activity !== after.activity || before.reason !== after.reason || before.words !== after.words;
}

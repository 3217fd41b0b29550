import { LOOK_AGAIN_MS, MAIL_NOTICE_EVERY_MS, QUIET_LOOK_MS_MAX } from "../limits/index.ts";
import type { NeedKind } from "../protocol/records/needs.ts";
import type { WorkerState } from "../protocol/records/worker.ts";

/** A need for somebody at this moment. */
export interface Need {
  kind: NeedKind;
  /** The words for it; null where they are not known, or not yet. */
  reason: string | null;
}

/** A need that was noticed, and whether somebody was told of it. */
export interface Notice extends Need {
  /** Wall time, for people. */
  sinceMs: number;
  /** Monotonic time, by which it is waited. */
  noticedAtMs: number;
  isTold: boolean;
  /** Monotonic time at which somebody was told of this kind of need last; null before. */
  lastToldAtMs: number | null;
}

/** When and of what somebody wants to be told. */
export interface NoticePolicy {
  on: readonly NeedKind[];
  afterMs: number;
  /** Hours in which nobody is told, in minutes of the day; they may go over midnight. Null for none. */
  quiet: QuietHours | null;
}

export interface QuietHours {
  from: number;
  to: number;
}

interface Moment {
  wallMs: number;
  monotonicMs: number;
}

/** Compares what was noticed with what is needed now. `wentOn` is a notice of which somebody was told, and which is over. */
export function afterLook(
  before: Notice | null,
  need: Need | null,
  { wallMs, monotonicMs }: Moment,
): { notice: Notice | null; wentOn: Notice | null } {
  if (need === null) {
    const isMail = before?.kind === "mail";
    // Mail that was read may be followed by more at once, and the last notice still counts then.
    if (isMail && lastsMs(before, monotonicMs) > 0) return { notice: { ...before, isTold: true }, wentOn: null };
    return { notice: null, wentOn: before?.isTold === true && !isMail ? before : null };
  }
  if (before !== null && isSame(before, need)) {
    const reason = need.reason ?? before.reason;
    return { notice: reason === before.reason ? before : { ...before, reason }, wentOn: null };
  }
  if (before?.kind === need.kind && !before.isTold) return { notice: { ...before, reason: need.reason }, wentOn: null };
  const lastToldAtMs = before?.kind === need.kind ? before.lastToldAtMs : null;
  const notice = { ...need, sinceMs: wallMs, noticedAtMs: monotonicMs, isTold: false, lastToldAtMs };
  return { notice, wentOn: null };
}

/**
 * The same need: an unknown reason that becomes known, or is no longer known, is no other one; and mail is the same until more comes,
 * whose id is the last word of its reason.
 */
function isSame(before: Notice, { kind, reason }: Need): boolean {
  if (before.kind !== kind) return false;
  if (before.reason === null || reason === null) return true;
  return kind === "mail" ? lastWord(before.reason) === lastWord(reason) : before.reason === reason;
}

function lastWord(text: string): string | undefined {
  return text.split(" ").at(-1);
}

/** Whether a worker's state tells neither that it still needs somebody nor that it went on. */
export function isUndecided(kind: NeedKind, state: WorkerState): boolean {
  // A daemon that has just started does not know yet what a living worker does.
  return state === "starting" || state === "backing-off" || (kind === "blocked" && state === "running");
}

export function told(notice: Notice, monotonicMs: number): Notice {
  return { ...notice, isTold: true, lastToldAtMs: monotonicMs };
}

/** Returns how long to wait before somebody is told: 0 for now, null for never. */
export function dueInMs(
  notice: Notice,
  { on, afterMs, quiet }: NoticePolicy,
  { monotonicMs, minuteOfDay, isLookedAt }: { monotonicMs: number; minuteOfDay: number; isLookedAt: boolean },
): number | null {
  if (notice.isTold || !on.includes(notice.kind)) return null;
  return Math.max(
    0,
    notice.noticedAtMs + afterMs - monotonicMs,
    lastsMs(notice, monotonicMs),
    quietForMs(quiet, minuteOfDay),
    // Whoever looks at it need not be told, until they look elsewhere and it still waits.
    isLookedAt ? LOOK_AGAIN_MS : 0,
  );
}

/** Returns how long the last notice of mail keeps the next one back. */
function lastsMs({ kind, lastToldAtMs }: Notice, monotonicMs: number): number {
  return kind !== "mail" || lastToldAtMs === null ? 0 : lastToldAtMs + MAIL_NOTICE_EVERY_MS - monotonicMs;
}

/** Returns how long nobody is told from this minute of the day on, at most as long as a clock may be trusted; 0 outside quiet hours. */
export function quietForMs(quiet: QuietHours | null, minuteOfDay: number): number {
  if (quiet === null) return 0;
  const { from, to } = quiet;
  const isQuiet = from <= to ? minuteOfDay >= from && minuteOfDay < to : minuteOfDay >= from || minuteOfDay < to;
  if (!isQuiet) return 0;
  const left = (to - minuteOfDay + DAY_MINUTES) % DAY_MINUTES;
  return Math.min(left * 60_000, QUIET_LOOK_MS_MAX);
}

const DAY_MINUTES = 24 * 60;

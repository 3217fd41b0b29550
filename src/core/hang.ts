import { startTimer, tick, type AwakeTimer } from "./awake-timer.ts";

/** How long an agent has been at work without a sign of life. */
export interface HangTimer {
  /** All that would have been a sign, as it was last seen. */
  seen: string;
  since: AwakeTimer;
}

export interface HangRules {
  /** How often it is looked, usually. */
  everyMs: number;
  hungAfterMs: number;
}

export function heardAt(seen: string, nowMs: number): HangTimer {
  return { seen, since: startTimer(nowMs) };
}

/**
 * One look. Only time that we were awake to see counts: an agent on a sleeping laptop could not show anything. One that
 * waits for somebody is not silent, however long that lasts.
 */
export function listen(
  silence: HangTimer,
  busy: boolean,
  seen: string,
  nowMs: number,
  { everyMs }: HangRules,
): HangTimer {
  if (!busy || seen !== silence.seen) return heardAt(seen, nowMs);
  return { seen, since: tick(silence.since, nowMs, everyMs) };
}

/** For how long, once that is too long; else null. */
export function hungFor({ since }: HangTimer, { hungAfterMs }: HangRules): number | null {
  return since.awakeMs >= hungAfterMs ? since.awakeMs : null;
}

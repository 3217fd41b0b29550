import { startTimer, tick, type AwakeTimer } from "./awake-timer.ts";

/** Counts how long an agent has been busy without a sign of life. */
export interface HangTimer {
  /** Everything that counts as a sign of life, as it was at the last poll. */
  fingerprint: string;
  timer: AwakeTimer;
}

export interface HangRules {
  /** The usual time between two polls. */
  everyMs: number;
  hungAfterMs: number;
}

export function startHangTimer(fingerprint: string, nowMs: number): HangTimer {
  return { fingerprint, timer: startTimer(nowMs) };
}

/**
 * Advances the timer by one poll. Only time in which the machine was awake counts, because an agent on a sleeping laptop
 * cannot show anything; an agent that waits for somebody is not hung, however long it waits.
 */
export function tickHangTimer(
  before: HangTimer,
  busy: boolean,
  fingerprint: string,
  nowMs: number,
  { everyMs }: HangRules,
): HangTimer {
  if (!busy || fingerprint !== before.fingerprint) return startHangTimer(fingerprint, nowMs);
  return { fingerprint, timer: tick(before.timer, nowMs, everyMs) };
}

/** Returns how long the agent has been hung, or null while the silence is not too long. */
export function hungForMs({ timer }: HangTimer, { hungAfterMs }: HangRules): number | null {
  return timer.awakeMs >= hungAfterMs ? timer.awakeMs : null;
}

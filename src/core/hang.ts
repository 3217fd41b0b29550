import { awayFrom, look, type Absence } from "./awake-timer.ts";

/** How long an agent has been at work without a sign of life. */
export interface Silence {
  /** All that would have been a sign, as it was last seen. */
  seen: string;
  since: Absence;
}

export interface SilenceRules {
  /** How often it is looked, usually. */
  everyMs: number;
  hungAfterMs: number;
}

export function heardAt(seen: string, nowMs: number): Silence {
  return { seen, since: awayFrom(nowMs) };
}

/**
 * One look. Only time that we were awake to see counts: an agent on a sleeping laptop could not show anything. One that
 * waits for somebody is not silent, however long that lasts.
 */
export function listen(
  silence: Silence,
  busy: boolean,
  seen: string,
  nowMs: number,
  { everyMs }: SilenceRules,
): Silence {
  if (!busy || seen !== silence.seen) return heardAt(seen, nowMs);
  return { seen, since: look(silence.since, nowMs, everyMs) };
}

/** For how long, once that is too long; else null. */
export function hungFor({ since }: Silence, { hungAfterMs }: SilenceRules): number | null {
  return since.awakeMs >= hungAfterMs ? since.awakeMs : null;
}

/** A client that lost its connection while its process lives. Monotonic milliseconds. */
export interface AwakeTimer {
  lookedAtMs: number;
  /** How long it has been away, as far as we were awake to see. */
  awakeMs: number;
}

/** Away from now on. */
export function startTimer(nowMs: number): AwakeTimer {
  return { lookedAtMs: nowMs, awakeMs: 0 };
}

/**
 * A look at an absent client. A gap between two looks counts for no more than two of the usual ones: what is longer was a
 * sleeping laptop or a stalled machine, on which the client could not come back either.
 */
export function tick(absence: AwakeTimer, nowMs: number, everyMs: number): AwakeTimer {
  const gap = Math.min(nowMs - absence.lookedAtMs, 2 * everyMs);
  return { lookedAtMs: nowMs, awakeMs: absence.awakeMs + Math.max(0, gap) };
}

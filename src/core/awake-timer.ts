/** A client that lost its connection while its process lives. Monotonic milliseconds. */
export interface Absence {
  lookedAtMs: number;
  /** How long it has been away, as far as we were awake to see. */
  awakeMs: number;
}

/** Away from now on. */
export function awayFrom(nowMs: number): Absence {
  return { lookedAtMs: nowMs, awakeMs: 0 };
}

/**
 * A look at an absent client. A gap between two looks counts for no more than two of the usual ones: what is longer was a
 * sleeping laptop or a stalled machine, on which the client could not come back either.
 */
export function look(absence: Absence, nowMs: number, everyMs: number): Absence {
  const gap = Math.min(nowMs - absence.lookedAtMs, 2 * everyMs);
  return { lookedAtMs: nowMs, awakeMs: absence.awakeMs + Math.max(0, gap) };
}

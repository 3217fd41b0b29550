/** How long a client that lost its connection, but whose process lives, has been away. Monotonic milliseconds. */
export interface Absence {
  sinceMs: number;
  periods: number;
}

/**
 * A look at an absent client. One long gap between two looks counts as one period however long it was: after a
 * laptop slept, the client gets a whole second period, awake, to come back.
 */
export function look(absence: Absence, nowMs: number, periodMs: number): { expired: boolean; absence: Absence } {
  if (nowMs - absence.sinceMs < periodMs) return { expired: false, absence };
  const periods = absence.periods + 1;
  return { expired: periods >= 2, absence: { sinceMs: nowMs, periods } };
}

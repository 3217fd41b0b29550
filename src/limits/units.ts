/** A unit, not a bound: settings and bounds that people think of in days are multiples of it. */
export const DAY_MS = 24 * 3_600_000;

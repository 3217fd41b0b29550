// The bounds of the figures for Prometheus, which keeps each series for as long as it keeps anything.

/** Workers that are named because they need somebody; of a fleet that has fallen together, nobody reads more. */
export const NAMED_WORKERS_MAX = 200;

/** The bounds by which commits are counted: an SSD syncs in some milliseconds, a busy disk in tenths of a second. */
export const COMMIT_BOUNDS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

/** The bounds by which turns are counted: most take seconds to minutes, and a turn is stopped after half an hour. */
export const TURN_BOUNDS_SECONDS = [1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800];

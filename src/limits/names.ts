import { MIB } from "./units.ts";

// The bounds of projects, workers, their names and their context files.

/** Longest worker or project name: four of them and an epoch still fit a file name of 255 bytes. */
export const NAME_CHARS_MAX = 64;

/** Longest host part of a run id (a DNS label). */
export const HOST_CHARS_MAX = 63;

/** Projects, and workers of one project: far more than a person has, few enough for one listing. */
export const PROJECTS_MAX = 10_000;
export const WORKERS_PER_PROJECT_MAX = 20_000;

/** Epochs kept of names in past use; the oldest beyond this are folded into one lower bound. */
export const EPOCHS_KEPT = 100_000;

/** Earlier runs that a claim returns, so that the context of the last working run is found even after a night of crash loops. */
export const EARLIER_RUNS_LISTED = 50;

/** Age at which a context file that its run never archived is moved to the archive. */
export const ANCHOR_SWEEP_DAYS = 7;

/** Bytes of one entry of a context file from standard input: it is appended with one write, and a person reads it. */
export const CONTEXT_ENTRY_BYTES_MAX = MIB;

/** Context files that one call may ask about. */
export const ANCHORS_PER_CALL = 500;

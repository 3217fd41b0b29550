import { KIB, MINUTE_MS, SECOND_MS } from "./units.ts";

// The bounds of a fleet: its file, its starts and restarts.

/** Unattended starts of one worker within the window, after which a person is needed. A passing fault costs three or four. */
export const RESTART_BUDGET = 5;
export const RESTART_WINDOW_MS = 2 * MINUTE_MS;

/** The wait before a restart, doubled with each failure in a row up to the maximum. */
export const RESTART_WAIT_MS = SECOND_MS;
export const RESTART_WAIT_MS_MAX = MINUTE_MS;

/** How long a run must live to count as healthy, which clears the failures before it. */
export const HEALTHY_RUN_MS = 2 * MINUTE_MS;

/**
 * How long a busy agent may show no sign (no hook, no line in its transcript, no new title) before it is reported as hung. Long
 * builds and slow models take minutes; an agent that takes longer is worth a person's attention, and the report does not stop it.
 */
export const HUNG_AFTER_MS = 15 * MINUTE_MS;

/** How often the desired workers are compared with the running ones. Ends are reported at once; this finds what was missed. */
export const RECONCILE_MS = 5 * SECOND_MS;

/** Workers that start at the same time: each probes its conversation and makes a pane. More would wait for the disk. */
export const STARTS_AT_ONCE = 16;

/** How long prepared workers wait for the rest of their batch, which may first have to mint a conversation. */
export const START_BATCH_WAIT_MS = 500;

/** Bytes of a configuration file: far more than a person writes; two of them fit a frame, to show what changed. */
export const CONFIG_BYTES_MAX = 256 * KIB;

/**
 * How deep in a configuration file lines are found for errors; no setting lies deeper. A path is kept for every part of a key, and a key of
 * a hostile file may have tens of thousands.
 */
export const SETTING_DEPTH_MAX = 8;

/** Workers that a fleet file declares: a typo in `count` must not start a million programs. */
export const FLEET_WORKERS_MAX = 1_000;

/** Bytes of a first prompt's file: the prompt is passed as one argument, and Linux accepts 128 kB. */
export const PROMPT_BYTES_MAX = 96 * KIB;

/** How long git may take to make a worktree, which is long for a big repository on a slow disk. */
export const WORKTREE_WAIT_MS = 10 * MINUTE_MS;

/** Variables that a start lacks and an earlier one had, as `up` names them. */
export const LOST_VARIABLES_SHOWN_MAX = 5;

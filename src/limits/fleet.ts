import { KIB, MINUTE_MS, SECOND_MS } from "./units.ts";

// The bounds of a fleet: its file, its starts and restarts.

/** Unattended starts of one worker: so many within the window, and a person is needed. A passing fault costs three or four. */
export const RESTART_BUDGET = 5;
export const RESTART_WINDOW_MS = 2 * MINUTE_MS;

/** The wait before a restart: doubled with each failure in a row, up to the most. */
export const RESTART_WAIT_MS = SECOND_MS;
export const RESTART_WAIT_MS_MAX = MINUTE_MS;

/** A run that lived so long was well, and what came before it is forgotten. */
export const HEALTHY_RUN_MS = 2 * MINUTE_MS;

/**
 * An agent that is at work and shows nothing for so long, no hook, no word in its transcript, no new title, is told of. Long
 * builds and slow models take minutes; one that takes longer is worth a look, and loses nothing by it.
 */
export const HUNG_AFTER_MS = 15 * MINUTE_MS;

/** How often what is desired is compared with what runs: ends are told at once, this finds what was missed. */
export const RECONCILE_MS = 5 * SECOND_MS;

/** Workers that start at once: each looks at its conversation and makes a pane. They share commits; more would wait for the disk. */
export const STARTS_AT_ONCE = 16;

/** Workers that are ready wait so long for others that come up with them, and no longer: one may have to be minted first. */
export const START_TOGETHER_MS = 500;

/** Bytes of a configuration file: far beyond any that a person writes; two of them fit a frame, to show what changed. */
export const CONFIG_BYTES_MAX = 256 * KIB;

/** Workers that a fleet file makes: a slip in `count` must not start a million programs. */
export const FLEET_WORKERS_MAX = 1_000;

/** Bytes of a first prompt's file: it travels as one argument, of which Linux takes 128 kB. */
export const PROMPT_BYTES_MAX = 96 * KIB;

/** How long git may take to make a worktree: a big repository on a slow disk. */
export const WORKTREE_WAIT_MS = 10 * MINUTE_MS;

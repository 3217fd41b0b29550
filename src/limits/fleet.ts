// The bounds of a fleet. Part of limits.ts, which is where they are looked for.

/** Unattended starts of one worker: so many within the window, and a person is needed. A passing fault costs three or four. */
export const RESTART_BUDGET = 5;
export const RESTART_WINDOW_MS = 120_000;
export const RESTART_WAIT_MS = 1_000;
export const RESTART_WAIT_MS_MAX = 60_000;

/** A run that lived so long was well, and what came before it is forgotten. */
export const HEALTHY_RUN_MS = 120_000;

/**
 * An agent that is at work and shows nothing for so long, no hook, no word in its transcript, no new title, is told of. Long
 * builds and slow models take minutes; one that takes longer is worth a look, and loses nothing by it.
 */
export const HUNG_AFTER_MS = 15 * 60_000;

/** How often what is desired is compared with what runs: ends are told at once, this finds what was missed. */
export const RECONCILE_MS = 5_000;

/** Workers starting at once: each looks at its conversation and makes a pane. They share commits; more would wait for the disk. */
export const STARTS_AT_ONCE = 16;

/** Workers that are ready wait so long for others that come up with them, and no longer: one may have to be minted first. */
export const START_TOGETHER_MS = 500;

/** Of what a pane shows and has shown: for `logs`, and kept after its run has ended. */
export const SCREEN_LINES_MAX = 5_000;
export const SCREEN_KEPT_LINES = 500;

/** Looks that are not urgent wait for the next multiple of this, and so for each other. */
export const LOOKS_TOGETHER_MS = 500;

/** How often the screens of those are looked at that do not tell by themselves; and the others every so many times. */
export const PANE_LOOK_MS = 1_000;
export const PANE_LOOKS_SELDOM = 10;

/** Of a fleet: the file, the workers it makes, a first prompt, and the time that git takes for a worktree. */
export const CONFIG_BYTES_MAX = 256 * 1024; // far beyond any that a person writes; two of them fit a frame, to show what changed
export const FLEET_WORKERS_MAX = 1_000; // a slip in `count` must not start a million programs
export const PROMPT_BYTES_MAX = 96 * 1024; // it travels as one argument, of which Linux takes 128 kB
export const WORKTREE_WAIT_MS = 10 * 60_000; // a big repository on a slow disk

/** `ls --watch`: how often it looks unasked, and how long several changes wait to become one frame. */
export const WATCH_LOOK_MS = 1_000;
export const WATCH_SETTLE_MS = 40;

/** Unread messages counted for the bare `perdure`: they come with their texts, and beyond this nobody counts. */
export const UNREAD_TOLD_MAX = 20;

/** How long the demo waits for anything: on a busy laptop a start takes seconds, and a demo that hangs explains nothing. */
export const DEMO_WAIT_MS = 20_000;

/** Ports for programs that have to listen on one: below those that the kernel gives to outgoing connections. */
export const FREE_PORT_FIRST = 20_000;
export const FREE_PORT_COUNT = 12_000;

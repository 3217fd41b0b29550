import { ANSWER_WAIT_MS } from "./client.ts";
import { KIB, MINUTE_MS, SECOND_MS } from "./units.ts";

// The bounds of starting, watching and ending one run's processes.

/** How often live runs are looked at besides being watched: the longest a killed run can seem alive in `ls`. */
export const RUN_POLL_MS = SECOND_MS;

/** The time after its first sighting from which no other process can have the same pid and start tick: a tick takes 10 ms. */
export const SIGHTING_CERTAIN_MS = 500;

/** How often, and how many times, a process is looked at after its exit file appeared, until it is gone. */
export const RUN_SETTLE_MS = 5;
export const RUN_SETTLE_TRIES = 200;

/**
 * Between the claim and the moment the wrapper's environment shows the run, pid and start time alone are the
 * identity. A launch takes 0.05 s; a stopped laptop resumes here later, so this is generous.
 */
export const RUN_START_GRACE_MS = MINUTE_MS;

/**
 * A library claim whose connection is gone while its process lives is freed after two of these, sleep not counted: the
 * second one is for laptops that wake up to a stalled machine.
 */
export const CLIENT_ABSENCE_MS = 15 * SECOND_MS;

/** How long a displaced process has between TERM and KILL. Agents write their transcript in that time. */
export const TAKEOVER_TERM_WAIT_MS = 5 * SECOND_MS;

/** How long after KILL the kernel may take before the takeover reports a time-out. */
export const TAKEOVER_KILL_WAIT_MS = 5 * SECOND_MS;

/** How long a wrapper may take to tell and put the terminal right once its program was killed. */
export const TAKEOVER_WRAPPER_WAIT_MS = 500;

/** How often a process that is being stopped is looked at. */
export const TAKEOVER_POLL_MS = 20;

/** How long `restart` waits for its answer: for TERM, for KILL, and for the start. */
export const RESTART_ANSWER_MS = TAKEOVER_TERM_WAIT_MS + TAKEOVER_KILL_WAIT_MS + ANSWER_WAIT_MS;

/** Commands and environments are stored with the worker; a runaway one is refused. */
export const COMMAND_BYTES_MAX = 128 * KIB;
export const ENVIRONMENT_BYTES_MAX = 256 * KIB;

/** A first prompt travels as one argument, of which the kernel takes 128 KB; a character has up to 3 bytes. */
export const FIRST_PROMPT_CHARS_MAX = 32 * 1024;

/** Shells and loaders between a wrapper and its agent; whatever is deeper is nested, and shows nothing of the run's own. */
export const WRAPPER_DEPTH_MAX = 4;

/** Parents looked at on the way up from a process to its run: a chain of processes is seldom longer than ten. */
export const NESTING_DEPTH_MAX = 64;

/** Processes looked at on the way from a wrapper down to its agent; an agent's own are not counted. */
export const NESTING_WALK_MAX = 256;

/** Folders above a program in which its package may begin. */
export const PACKAGE_LEVELS_MAX = 6;

/** The end of a helper program's stderr that is kept to explain its failure. */
export const STDERR_CHARS_MAX = 2_000;

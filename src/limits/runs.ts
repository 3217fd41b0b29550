import { ANSWER_WAIT_MS } from "./client.ts";
import { KIB, MINUTE_MS, SECOND_MS } from "./units.ts";

// The bounds of starting, watching and ending one run's processes.

/** How often live runs are polled in addition to being watched: the longest a killed run can seem alive in `ls`. */
export const RUN_POLL_MS = SECOND_MS;

/** Files of /proc that are kept open, two for each run that is polled; a shell's limit is often 1,024, which Node raises. */
export const PROCESS_FILES_KEPT_MAX = 512;

/** How long after it was first seen no other process can have the same pid and start tick: a tick takes 10 ms. */
export const PID_CONFIRM_MS = 500;

/** How often, and how many times, a process is polled after its exit file appeared, until it is gone. */
export const RUN_SETTLE_MS = 5;
export const RUN_SETTLE_TRIES = 200;

/**
 * How long after the claim pid and start time alone identify the process, until the wrapper's environment shows the run.
 * A launch takes 0.05 s; the bound is generous, because a laptop may be suspended in between.
 */
export const RUN_START_GRACE_MS = MINUTE_MS;

/**
 * Half the time after which a library's lease is freed when its connection is gone and its process lives; sleep is not counted.
 * The second half is for laptops that are slow after they wake up.
 */
export const CLIENT_ABSENCE_MS = 15 * SECOND_MS;

/**
 * Fifos that are made by one start of mkfifo, which takes 2 ms, and the number of those left at which more are made: a fleet
 * that is brought up claims some ten names in that time.
 */
export const RUN_FIFOS_MADE_AT_ONCE = 64;
export const RUN_FIFOS_LEAST = 16;

/** How long a displaced process has between TERM and KILL; agents write their transcript in that time. */
export const TAKEOVER_TERM_WAIT_MS = 5 * SECOND_MS;

/** How long a worker that is stopped may be given at most between TERM and KILL. */
export const KILL_AFTER_MS_MAX = 10 * MINUTE_MS;

/** How long a headless program in the wrong conversation has to leave by itself: enough to end with its own code, too short to say much. */
export const WRONG_CONVERSATION_TERM_WAIT_MS = SECOND_MS;

/** How long the kernel may take after KILL before the takeover reports a time-out. */
export const TAKEOVER_KILL_WAIT_MS = 5 * SECOND_MS;

/** How long a wrapper may take to report the end and restore the terminal after its program was killed. */
export const TAKEOVER_WRAPPER_WAIT_MS = 500;

/** How often a process that is being stopped is polled. */
export const TAKEOVER_POLL_MS = 20;

/** How long `restart` waits for its answer, which covers TERM, KILL and the start. */
export const RESTART_ANSWER_MS = TAKEOVER_TERM_WAIT_MS + TAKEOVER_KILL_WAIT_MS + ANSWER_WAIT_MS;

/** Seconds that the wrapper of an ended headless run waits, at most, for the daemon's word on its conversation. */
export const VERDICT_WAIT_SECONDS = 1;

/**
 * The same where the vendor's own program has to be asked about the conversation: that takes more than a second on an idle machine,
 * eight on a busy one, and a wait of one second would end before every answer.
 */
export const SLOW_VERDICT_WAIT_SECONDS = 15;

/** Bytes of a command, which is stored with the worker; a larger one is refused. */
export const COMMAND_BYTES_MAX = 128 * KIB;

/**
 * Bytes of an environment that is recorded for later starts: ten times what a shell with many tools has, and, with a fleet file beside
 * it, within one frame of the protocol.
 */
export const ENVIRONMENT_BYTES_MAX = 256 * KIB;

/** Recorded environments that the daemon keeps in memory: the workers of one terminal share one. */
export const ENVIRONMENTS_CACHED = 8;

/** Characters of a first prompt: it is passed as one argument, the kernel accepts 128 kB, and a character has up to 3 bytes. */
export const FIRST_PROMPT_CHARS_MAX = 32 * 1024;

/** Shells and loaders between a wrapper and its agent; a deeper process is nested, and shows no sign of the run itself. */
export const WRAPPER_DEPTH_MAX = 4;

/** Parents visited on the way up from a process to its run: a chain of processes is seldom longer than ten. */
export const NESTING_DEPTH_MAX = 64;

/** Processes visited on the way from a wrapper down to its agent, without the agent's own children. */
export const NESTING_WALK_MAX = 256;

/** Folders above a program that are searched for the root of its package. */
export const PACKAGE_LEVELS_MAX = 6;

/** Characters at the end of a helper program's stderr that are kept to explain its failure. */
export const STDERR_CHARS_MAX = 2_000;

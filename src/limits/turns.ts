import { HOUR_MS, KIB, MIB, MINUTE_MS, SECOND_MS } from "./units.ts";

// The bounds of turns: what mail may begin by itself, where nobody sits in front of the program.

/** Turns at the same time, over all projects, unless the user says otherwise: a program takes some hundred MB while it answers. */
export const TURNS_AT_ONCE = 4;
export const TURNS_AT_ONCE_MAX = 64;

/** Turns of one worker, and of a project, within the window, unless the project says otherwise: each costs its user money. */
export const TURNS_PER_HOUR = 30;
export const PROJECT_TURNS_PER_HOUR = 300;
/** The number that a project may set at most, because its file may come from a stranger. */
export const TURNS_PER_HOUR_MAX = 6_000;
export const TURNS_WINDOW_MS = HOUR_MS;

/** How long a turn may take without an answer, unless the project says otherwise, and at most. Long builds take minutes. */
export const TURN_TIMEOUT_MS = 30 * MINUTE_MS;
export const TURN_TIMEOUT_MS_MAX = 24 * HOUR_MS;

/** How long a program that is stopped has to end before KILL: none of the known ones tidies for longer. */
export const TURN_STOP_WAIT_MS = 5 * SECOND_MS;

/** Turns that a message may begin that ended before the program had done anything; then something is wrong that time will not mend. */
export const TURN_TRIES_MAX = 3;

/** How long after a start that failed, or a turn that did nothing, the next one begins; doubled with each failure in a row. */
export const TURN_RETRY_MS = SECOND_MS;
export const TURN_RETRY_MS_MAX = MINUTE_MS;

/** Bytes that a program may print in one turn: machine output repeats the results of tools, and they may be long. */
export const TURN_OUTPUT_BYTES_MAX = 256 * MIB;

/** The part of the output that is read at once, so that other calls are answered in between. */
export const TURN_OUTPUT_READ_BYTES = 256 * KIB;

/** The end of what a program has said on its stderr: the reason why it ended is there. */
export const TURN_STDERR_BYTES = 16 * KIB;

/** How often the output is looked at where the kernel reports no change. */
export const TURN_POLL_MS = SECOND_MS;

/** Names of workers in `turns_from`. */
export const TURNS_FROM_MAX = 100;

/** Messages of a mailbox that are looked at for the next turn: those that may not begin one stand in front of those that may. */
export const TURN_QUEUE_READ = 1_000;

/** The turns that `logs -f` looks for behind the one that it has shown last. */
export const TURNS_MISSED_MAX = 50;

/** The part of a turn's output that `logs` shows. */
export const TURN_LOG_BYTES = 4 * MIB;

/** How often the built-in agent looks whether a test lets its turn go on. */
export const HOLD_LOOK_MS = 20;

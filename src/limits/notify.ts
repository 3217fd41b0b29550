import { HOUR_MS, KIB, MINUTE_MS, SECOND_MS } from "./units.ts";

// The bounds of telling people that they are needed.

/** How long somebody must be needed before anybody is told: most questions are answered by who sits in front of them. */
export const NOTICE_AFTER_MS = 20 * SECOND_MS;

/** How often mail of one worker to the operator is told: an agent can write faster than a person reads. */
export const MAIL_NOTICE_EVERY_MS = MINUTE_MS;

/** How long a program of the user's may take for one notice, and how much of its complaint is kept. */
export const NOTICE_COMMAND_MS = 10 * SECOND_MS;
export const NOTICE_STDERR_BYTES = 2 * KIB;

/** Notices that wait for the one before them: more than a fleet that falls together has, and a bound on what a slow program holds up. */
export const NOTICES_WAITING_MAX = 200;

/** How soon it is looked again whether somebody still looks at the pane of a worker that needs them. */
export const LOOK_AGAIN_MS = 5 * SECOND_MS;

/** How long after the last key a person in front of a terminal is taken to look at it: an attached terminal may be left alone for days. */
export const LOOKS_AFTER_KEY_MS = 5 * MINUTE_MS;

/** How soon the end of quiet hours is computed anew at the latest, because clocks are set. */
export const QUIET_LOOK_MS_MAX = HOUR_MS;

/** How long changes of what workers do are collected before they are shown in the line of windows: one line of commands for a fleet. */
export const MARKS_SETTLE_MS = 50;

/** How soon a worker that starts is looked at again, because not every program tells that it has started. */
export const START_LOOK_MS = SECOND_MS;

/** The longest text of `after`: a day, beyond which a notice tells nobody anything. */
export const NOTICE_AFTER_MS_MAX = 24 * HOUR_MS;

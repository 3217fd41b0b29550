import { MINUTE_MS, SECOND_MS } from "./units.ts";

// The bounds of a client that looks for the daemon and waits for its answers.

/** How often a client connects before it gives up: a daemon that leaves between our connect and its hello is replaced. */
export const CONNECT_TRIES = 5;

/** How long a client waits for a daemon it started. A cold start takes 0.1 s; a busy laptop takes longer. */
export const DAEMON_START_WAIT_MS = 10 * SECOND_MS;

/** How long a client waits for a socket that accepts but does not answer. */
export const ANSWER_WAIT_MS = 30 * SECOND_MS;

/** How long a client waits for calls that read or copy the whole store. */
export const LONG_WAIT_MS = 10 * MINUTE_MS;

/** How long a client waits beyond the time that it asked the daemon to wait: for the daemon's own answer that there is nothing. */
export const EXTRA_WAIT_MS = 10 * SECOND_MS;

/** How long a library client waits before it looks for a daemon again, and how often it looks at a program it started. */
export const RECONNECT_MS = 200;
export const START_LOOK_MS = 20;

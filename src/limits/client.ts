import { MINUTE_MS, SECOND_MS } from "./units.ts";

// The bounds of a client that connects to the daemon and waits for its answers.

/** Attempts of a client to connect before it gives up: a daemon that exits between connect and hello is replaced. */
export const CONNECT_TRIES = 5;

/** How long a client waits for a daemon it started. A cold start takes 0.1 s; a busy laptop takes longer. */
export const DAEMON_START_WAIT_MS = 10 * SECOND_MS;

/** How long a client waits for a socket that accepts but does not answer. */
export const ANSWER_WAIT_MS = 30 * SECOND_MS;

/** How long a client waits for calls that read or copy the whole store. */
export const LONG_WAIT_MS = 10 * MINUTE_MS;

/** How much longer a client waits than it asked the daemon to wait, so that the daemon's own "nothing came" arrives. */
export const EXTRA_WAIT_MS = 10 * SECOND_MS;

/** How long one call waits for workers: the call of a verb that waits longer is made again. */
export const WAIT_MS_MAX = 60 * MINUTE_MS;

/** How long a library client waits before it tries to reach a daemon again. */
export const RECONNECT_MS = 200;

/** How long a client waits for a project to be moved: each conversation of a vendor with a database takes its program seconds. */
export const MOVE_PROJECT_WAIT_MS = 10 * MINUTE_MS;

/** How long a command that replaces the store waits for a daemon that is on its way out, and how often it looks. */
export const DAEMON_EXIT_WAIT_MS = 2 * SECOND_MS;
export const DAEMON_EXIT_POLL_MS = 20;

/** Workers that a restored backup takes back to an earlier time, as `daemon start` names them. */
export const TAKEN_BACK_SHOWN_MAX = 20;

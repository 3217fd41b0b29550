// The bounds of the socket, its frames and its calls.

/** A frame larger than this is refused before it is buffered. One message with attachments fits. */
export const FRAME_BYTES_MAX = 1024 * 1024;

/** Requests of one connection that are answered at once; beyond it the socket is simply not read (back-pressure). */
export const CALLS_IN_FLIGHT_MAX = 64;

/** Unsent bytes beyond which a connection's streams wait and its requests are not read: hundreds that never read cost little. */
export const SOCKET_BUFFER_BYTES_MAX = 16 * 1024;

/** A connection that has not said hello by then is closed: a stranger cannot hold a slot for nothing. */
export const HELLO_WAIT_MS = 5_000;

/** Connections at once. A fleet has tens; beyond this new ones get "busy", retryable. */
export const CONNECTIONS_MAX = 1_000;

/** The kernel takes 107 bytes for a unix socket's path; tools that join paths need a margin. */
export const SOCKET_PATH_BYTES_MAX = 100;

/** How often a client connects before it gives up: a daemon that leaves between our connect and its hello is replaced. */
export const CONNECT_TRIES = 5;

/** How long a client waits for a daemon it started. A cold start takes 0.1 s; a busy laptop takes longer. */
export const DAEMON_START_WAIT_MS = 10_000;

/** How long a client waits for a socket that accepts but does not answer. */
export const ANSWER_WAIT_MS = 30_000;

/** How long a client waits for calls that read or copy the whole store. */
export const LONG_WAIT_MS = 10 * 60_000;

/** How long a client waits beyond the time that it asked the daemon to wait: for the daemon's own answer that there is nothing. */
export const EXTRA_WAIT_MS = 10_000;

/** How long a library client waits before it looks for a daemon again, and how often it looks at a program it started. */
export const RECONNECT_MS = 200;
export const START_LOOK_MS = 20;

/** Rows that a listing returns at most in one answer, and that history and events return unless they are asked for more. */
export const LIST_ROWS_MAX = 20_000;
export const HISTORY_ROWS_DEFAULT = 50;
export const EVENT_ROWS_DEFAULT = 50;

/** Events that are read from the store at a time while a stream catches up: the daemon answers others in between. */
export const EVENT_PAGE_ROWS = 500;

/** Policy cache lifetime: perdure.toml is asked for its policy at every message. */
export const POLICY_CACHE_MS = 1_000;

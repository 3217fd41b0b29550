import { KIB, MIB, SECOND_MS } from "./units.ts";

// The bounds of the socket, its frames and its calls.

/** A frame larger than this is refused before it is buffered. One message with attachments fits. */
export const FRAME_BYTES_MAX = MIB;

/** Requests of one connection that are answered at once; beyond it the socket is simply not read (back-pressure). */
export const CALLS_IN_FLIGHT_MAX = 64;

/** Leases that one connection may keep alive: an orchestrator has hundreds of workers, and each costs one open call. */
export const LEASES_PER_CONNECTION_MAX = 1_000;

/** Unsent bytes beyond which a connection's streams wait and its requests are not read: hundreds that never read cost little. */
export const SOCKET_BUFFER_BYTES_MAX = 16 * KIB;

/** A connection that has not said hello by then is closed: a stranger cannot hold a slot for nothing. */
export const HELLO_WAIT_MS = 5 * SECOND_MS;

/** Connections at once. A fleet has tens; beyond this new ones get "busy", retryable. */
export const CONNECTIONS_MAX = 1_000;

/** The kernel takes 107 bytes for a unix socket's path; tools that join paths need a margin. */
export const SOCKET_PATH_BYTES_MAX = 100;

/** Rows that a listing returns at most in one answer, and that history and events return unless they are asked for more. */
export const LIST_ROWS_MAX = 20_000;
export const HISTORY_ROWS_DEFAULT = 50;
export const EVENT_ROWS_DEFAULT = 50;

/** Events that are read from the store at a time while a stream catches up: the daemon answers others in between. */
export const EVENT_PAGE_ROWS = 500;

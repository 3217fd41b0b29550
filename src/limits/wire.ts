import { KIB, MIB, SECOND_MS } from "./units.ts";

// The bounds of the socket, its frames and its calls.

/** A frame larger than this is refused before it is buffered. One message with attachments fits. */
export const FRAME_BYTES_MAX = MIB;

/** Requests of one connection that are answered concurrently; beyond it the socket is not read (back-pressure). */
export const CALLS_IN_FLIGHT_MAX = 64;

/** Leases that one connection may keep alive: an orchestrator has hundreds of workers, each with one open call. */
export const LEASES_PER_CONNECTION_MAX = 1_000;

/** Unsent bytes beyond which a connection's streams wait and its requests are not read, so that idle readers cost little memory. */
export const SOCKET_BUFFER_BYTES_MAX = 16 * KIB;

/** How long a connection may take to say hello before it is closed, so that an unknown program cannot occupy a slot. */
export const HELLO_WAIT_MS = 5 * SECOND_MS;

/** Concurrent connections. A fleet has tens; beyond this new ones get the retryable error "busy". */
export const CONNECTIONS_MAX = 1_000;

/** Bytes of a unix socket's path: the kernel accepts 107, and tools that join paths need a margin. */
export const SOCKET_PATH_BYTES_MAX = 100;

/** The most rows of a listing in one answer, and the rows that `history` and `events` return by default. */
export const LIST_ROWS_MAX = 20_000;
export const HISTORY_ROWS_DEFAULT = 50;

/** How many runs `history` reads for its table without a limit: hundreds of turns may be one row. */
export const HISTORY_RUNS_READ = 1_000;
export const EVENT_ROWS_DEFAULT = 50;

/** Events read from the store at a time while a stream catches up: the daemon answers other calls in between. */
export const EVENT_PAGE_ROWS = 500;

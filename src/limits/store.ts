import { MIB, SECOND_MS } from "./units.ts";

// The bounds of SQLite, the writer and the row cache.

/** Changes that share one commit: enough to spread the cost of its sync, few enough to be collected as young garbage. */
export const COMMIT_CHANGES_MAX = 256;

/** WAL pages before a checkpoint, and the size the file is truncated to: reused space syncs faster than growth. */
export const WAL_PAGES_MAX = 1_000;
export const WAL_BYTES_KEPT = 4 * MIB;

/** How long a statement waits for a lock, which only a backup or a check by another process can hold. */
export const STORE_LOCK_WAIT_MS = SECOND_MS;

/** Cached rows per statement: enough for the names of a fleet and the launches of its workers. */
export const CACHED_ROWS_MAX = 200;

import { MIB, SECOND_MS } from "./units.ts";

// The bounds of SQLite and of what stands in front of it.

/** Changes that share one commit: enough for its sync to cost each of them little, few enough for them to be young garbage after it. */
export const COMMIT_CHANGES_MAX = 256;

/** WAL pages before a checkpoint and the size the file is cut to: reused space syncs faster than growth. */
export const WAL_PAGES_MAX = 1_000;
export const WAL_BYTES_KEPT = 4 * MIB;

/** How long a statement waits for a lock: only a backup or a check from outside can have one. */
export const STORE_LOCK_WAIT_MS = SECOND_MS;

/** Cached rows per statement: a fleet's names fit, and with them what each was started with. */
export const CACHED_ROWS_MAX = 200;

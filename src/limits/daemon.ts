import { DAY_MS, MIB, MINUTE_MS, SECOND_MS } from "./units.ts";

// The bounds of the daemon's own life: start, end, log and retention.

/** How long an exiting daemon waits for calls in progress; the next daemon finishes the rest. */
export const DRAIN_MS_MAX = 3 * SECOND_MS;

/** How long a starting daemon waits for the lock of an exiting one; shorter than the client waits that started it. */
export const DAEMON_LOCK_WAIT_MS = 6 * SECOND_MS;

/** How often a starting daemon tries the lock; no client waits for a daemon under systemd, which tries less often. */
export const DAEMON_LOCK_POLL_MS = 20;
export const SERVICE_LOCK_POLL_MS = 500;

/** How long the daemon stays without anything that needs it before it exits. */
export const DAEMON_IDLE_EXIT_MS = 10 * MINUTE_MS;

/** Size at which the daemon's log is rotated; one older file is kept. */
export const LOG_BYTES_MAX = MIB;

/** How long a reading of the uptime is reused: the kernel counts in such steps, and a reading costs more than a message. */
export const UPTIME_STEP_MS = 10;

/** How often old rows and folders are deleted. */
export const RETENTION_EVERY_MS = 10 * MINUTE_MS;

/** History that is kept, the newest first; a live run is never dropped. */
export const RUNS_KEPT_PER_WORKER = 500;
export const EVENTS_KEPT = 100_000;
export const RETIRED_WORKERS_KEPT_MS = 365 * DAY_MS;
export const RETIRED_WORKERS_KEPT = 10_000;
export const TOMBSTONES_KEPT_PER_PROJECT = 1_000;

/** Folders of ended runs (exit code, notes) that stay on disk for later inspection. */
export const RUN_FOLDERS_KEPT = 1_000;

/**
 * How often the daemon looks whether it could give memory back, how much of a core an idle one uses at most, and how much its heap
 * must have grown for a collection: much, or, once it has worked since the last one, a little. Work is a tenth of a second, and ten
 * times what the last collection took, some 25 ms on all its threads: watching over fifty idle workers is work, and collections
 * were a quarter of it.
 */
export const IDLE_MEMORY_CHECK_MS = SECOND_MS;
export const IDLE_CPU_SHARE = 0.05;
export const IDLE_HEAP_GROWTH_BYTES = 12 * MIB;
export const WORKED_CPU_MS = SECOND_MS / 10;
export const WORKED_COLLECTIONS = 10;
export const WORKED_HEAP_GROWTH_BYTES = 2 * MIB;

/** How often the daemon looks whether its socket, lock and other files are still its own; each look costs some 20 µs. */
export const OWN_FILES_POLL_MS = 500;

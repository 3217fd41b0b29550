import { DAY_MS, MIB, MINUTE_MS, SECOND_MS } from "./units.ts";

// The bounds of the daemon's own life: start, end, log and retention.

/** How long a daemon that leaves waits for calls under way; what it cannot finish, the next one does. */
export const DRAIN_MS_MAX = 3 * SECOND_MS;

/** How long a starting daemon waits for the lock of one that leaves; shorter than its starter waits for it. */
export const DAEMON_LOCK_WAIT_MS = 6 * SECOND_MS;

/** How often a starting daemon tries the lock; one that systemd keeps has no starter who waits, and tries less often. */
export const DAEMON_LOCK_POLL_MS = 20;
export const SERVICE_LOCK_POLL_MS = 500;

/** The daemon leaves when nothing has needed it for so long. */
export const DAEMON_IDLE_EXIT_MS = 10 * MINUTE_MS;

/** The daemon's log is cut in two at this size; one older half is kept. */
export const LOG_BYTES_MAX = MIB;

/** How old the machine's uptime may be: the kernel's file moves in such steps, and reading it costs more than a message does. */
export const UPTIME_STEP_MS = 10;

/** How often old rows and folders are cleared. */
export const RETENTION_EVERY_MS = 10 * MINUTE_MS;

/** History that is kept. The newest is; a run that still lives is never dropped. */
export const RUNS_KEPT_PER_WORKER = 500;
export const EVENTS_KEPT = 100_000;
export const RETIRED_WORKERS_KEPT_MS = 365 * DAY_MS;
export const RETIRED_WORKERS_KEPT = 10_000;
export const TOMBSTONES_KEPT_PER_PROJECT = 1_000;

/** Run folders (exit code, notes) of ended runs that stay on disk for a look after the fact. */
export const RUN_FOLDERS_KEPT = 1_000;

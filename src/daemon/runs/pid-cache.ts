import { SIGHTING_CERTAIN_MS } from "../../limits/index.ts";
import type { ProcessInfo } from "../../runtime/process/index.ts";

/**
 * Spares a look into the environment at every poll. A pid that comes back can share the start tick only while that tick
 * lasts: once a process was seen with its run some time after it was first seen at all, pid and start time are enough to
 * know it again. Before a signal everything is looked at, always.
 */
export class PidCache {
  #process = "";
  #firstAtMs = 0;
  #confirmed = false;

  isConfirmed(found: ProcessInfo, nowMs: number): boolean {
    this.#observe(found, nowMs);
    return this.#confirmed;
  }

  /** With its run in its environment, just now. */
  confirm(found: ProcessInfo, nowMs: number): void {
    this.#observe(found, nowMs);
    this.#confirmed = nowMs - this.#firstAtMs >= SIGHTING_CERTAIN_MS;
  }

  #observe({ pid, startedAt }: ProcessInfo, nowMs: number): void {
    const process = `${pid} ${startedAt}`;
    if (process === this.#process) return;
    this.#process = process;
    this.#firstAtMs = nowMs;
    this.#confirmed = false;
  }
}

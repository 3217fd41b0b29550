import { PID_CONFIRM_MS } from "../../limits/index.ts";
import type { ProcessInfo } from "../../runtime/process/index.ts";

/**
 * Remembers that a process carries its run, which saves reading its environment at every poll. A reused pid can share the
 * start tick only while that tick lasts: once a process was confirmed some time after it was first seen, its pid and start
 * time are enough to recognize it. Before a signal the environment is always read.
 */
export class PidCache {
  #process = "";
  #firstAtMs = 0;
  #confirmed = false;

  isConfirmed(found: ProcessInfo, nowMs: number): boolean {
    this.#observe(found, nowMs);
    return this.#confirmed;
  }

  /** Notes that the process was just seen with its run in its environment. */
  confirm(found: ProcessInfo, nowMs: number): void {
    this.#observe(found, nowMs);
    this.#confirmed = nowMs - this.#firstAtMs >= PID_CONFIRM_MS;
  }

  #observe({ pid, startedAt }: ProcessInfo, nowMs: number): void {
    const process = `${pid} ${startedAt}`;
    if (process === this.#process) return;
    this.#process = process;
    this.#firstAtMs = nowMs;
    this.#confirmed = false;
  }
}

import { LOOKS_TOGETHER_MS, RUN_POLL_MS } from "../../limits/index.ts";

/** How long to wait, so that what can wait is done with what others wait for: fifty looks in one waking cost less than one each. */
export function withOthers(nowMs: number, ms: number): number {
  if (ms < RUN_POLL_MS) return ms;
  return Math.ceil((nowMs + ms) / LOOKS_TOGETHER_MS) * LOOKS_TOGETHER_MS - nowMs;
}

import type { Attempts } from "../../core/restart.ts";
import {
  HEALTHY_RUN_MS,
  RESTART_BUDGET,
  RESTART_WAIT_MS,
  RESTART_WAIT_MS_MAX,
  RESTART_WINDOW_MS,
} from "../../limits.ts";
import type { RunRow } from "../../store/runs.ts";

export const RULES = {
  budget: RESTART_BUDGET,
  windowMs: RESTART_WINDOW_MS,
  firstWaitMs: RESTART_WAIT_MS,
  longestWaitMs: RESTART_WAIT_MS_MAX,
  healthyMs: HEALTHY_RUN_MS,
};

/** As the last daemon would have counted. */
export function attemptsIn(runs: RunRow[], nowMs: number, monotonicMs: number): Attempts {
  const counted = runs.filter((run) => run.pane !== null && run.stopped_by === null && run.displaced_ms === null);
  const agesMs = counted.map((run) => nowMs - run.started_ms).filter((age) => age >= 0 && age < RESTART_WINDOW_MS);
  return { startsAtMs: agesMs.map((age) => monotonicMs - age).toReversed(), failures: Math.max(0, agesMs.length - 1) };
}

import { attemptsFromAges, type Attempts, type RestartRules } from "../../core/restart.ts";
import {
  HEALTHY_RUN_MS,
  RESTART_BUDGET,
  RESTART_WAIT_MS,
  RESTART_WAIT_MS_MAX,
  RESTART_WINDOW_MS,
} from "../../limits/index.ts";
import type { Run } from "../../store/runs.ts";

export const RESTART_RULES: RestartRules = {
  budget: RESTART_BUDGET,
  windowMs: RESTART_WINDOW_MS,
  // Tests set a shorter time.
  firstWaitMs: Number(process.env.PERDURE_RESTART_WAIT_MS) || RESTART_WAIT_MS,
  longestWaitMs: RESTART_WAIT_MS_MAX,
  healthyMs: HEALTHY_RUN_MS,
};

/** Counts the attempts since the worker was last stopped, as an earlier daemon did. `runs` has the newest run first. */
export function attemptsOf(runs: readonly Run[], nowMs: number, monotonicMs: number): Attempts {
  const requestedAt = runs.findIndex((run) => run.stoppedBy !== null || run.displacedMs !== null);
  const since = requestedAt < 0 ? runs : runs.slice(0, requestedAt);
  const agesMs = since.filter(({ pane }) => pane !== null).map((run) => nowMs - run.startedMs);
  return attemptsFromAges(agesMs, monotonicMs, RESTART_RULES);
}

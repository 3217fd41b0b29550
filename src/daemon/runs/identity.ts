import type { ProcessId } from "../../runtime/process/index.ts";
import type { Run } from "../../store/runs.ts";

/** The file in a run's folder that a pane's shell reads to become the wrapper. */
export const START_SCRIPT = "start";

/** Returns the identity of the process that holds the name for the run. */
export function identityOf(run: Run): ProcessId {
  return { pid: run.pid, startedAt: run.processStarted, bootId: run.bootId, namespace: run.namespace };
}

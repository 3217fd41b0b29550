import { agentChain } from "../../launch/nesting.ts";
import { isRunGone } from "../../runtime/process/run-fifo.ts";
import type { ProcessInfo, ProcessTable } from "../../runtime/process/index.ts";
import type { Run } from "../../store/runs.ts";
import { identityOf } from "./identity.ts";

/** Tells whether the run's pid is one of another pid namespace: it is never looked up here, and never signalled. */
export function isOfOtherNamespace(processes: ProcessTable, { namespace }: Run): boolean {
  return namespace !== null && namespace !== processes.namespace();
}

/** Tells whether the run began under this boot of the machine, or of the container. */
export function isOfThisBoot(processes: ProcessTable, run: Run): boolean {
  return run.bootId === processes.bootId() && !isOfOtherNamespace(processes, run);
}

/**
 * Judges a run of another pid namespace by its fifo, which the kernel shares. Returns its holder as it was recorded, unless
 * nobody has the fifo open and no process that can be seen from here, as those of an inner namespace can, carries the run.
 */
export function holderElsewhere(processes: ProcessTable, run: Run, runDir: string): ProcessInfo[] {
  const isGone = isRunGone(runDir) && processes.withVariable("PERDURE_RUN", run.id).length === 0;
  return isGone ? [] : [recordedHolder(run)];
}

/** Describes the holder by what is on record, because its namespace does not show it. */
export function recordedHolder(run: Run): ProcessInfo {
  return { ...identityOf(run), parentPid: 0, suspended: false, command: "unknown" };
}

/** Returns the pids from the run's wrapper down to its agent; none for a run of another pid namespace. */
export function chainOf(processes: ProcessTable, run: Run): number[] {
  return isOfOtherNamespace(processes, run) ? [] : agentChain(processes, run.pid);
}

/** Tells whether the process is only on record: it was found in no table. */
export function isOnlyRecorded(processes: ProcessTable, { namespace }: ProcessInfo): boolean {
  return namespace !== processes.namespace();
}

/** Says, for people, where a run is whose processes cannot be seen from here. */
export function placeOf({ namespace, host }: Run): string {
  if (namespace === null) return "a pid namespace that its perdure, an older one, did not record";
  return `another pid namespace, ${namespace.split(" ")[0]} of ${host ?? "an unknown host"}`;
}

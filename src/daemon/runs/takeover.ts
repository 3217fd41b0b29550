import { displaceLease } from "../../core/lease.ts";
import { holderOf, markDisplaced, type Run } from "../../store/runs.ts";
import { setLease, workerById } from "../../store/workers.ts";
import type { BaseServices, ChangeServices } from "../base-services.ts";
import { recordEvent } from "../events.ts";
import { placeOf } from "./elsewhere.ts";
import type { RunStopper } from "./stop.ts";
import type { RunWatch } from "./watch.ts";

interface TakeoverServices extends ChangeServices {
  readonly runs: RunWatch;
}

/**
 * Takes a name over: fences the holder first, so that it can change nothing any more, and only then stops its processes and
 * frees the name. A name without a holder stays free. A holder that cannot be signalled from here is fenced and left alone.
 */
export async function takeOver(
  services: TakeoverServices & Pick<BaseServices, "writer"> & { readonly stopper: RunStopper },
  workerId: number,
  by: string,
  killAfterMs: number,
): Promise<{ displaced: Run | null; killed: boolean; leftIn: string | null }> {
  const displaced = await services.writer.write(() => displaceRun(services, workerId, by));
  if (displaced && services.runs.isElsewhere(displaced)) {
    await services.stopper.abandon(displaced);
    return { displaced, killed: false, leftIn: placeOf(displaced) };
  }
  return { displaced, killed: displaced ? await services.stopper.stop(displaced, killAfterMs) : false, leftIn: null };
}

/** Fences, inside a change, the holder of the name; returns the run to stop, or null when nobody holds the name. */
export function displaceRun(services: TakeoverServices, workerId: number, by: string): Run | null {
  const worker = workerById(services.db, workerId);
  if (worker === null) return null;
  const { lease } = worker;
  const run = holderOf(services.db, worker);
  if (run === null || lease.phase === "displacing") return run;
  if (services.runs.processesOf(run).length === 0) {
    services.runs.recordEnd(run);
    return null;
  }
  services.runs.notifyEnding(run);
  setLease(services.db, workerId, displaceLease(lease));
  markDisplaced(services.db, run.id, services.now(), by);
  recordEvent(
    services,
    "run.displaced",
    { projectId: worker.projectId, workerId, run: run.id, generation: run.generation },
    { by },
  );
  return { ...run, displacedBy: by };
}

import { displaceLease } from "../../core/lease.ts";
import { holderOf, markDisplaced, type Run } from "../../store/runs.ts";
import { setLease, workerById } from "../../store/workers.ts";
import type { ChangeServices } from "../base-services.ts";
import { recordEvent } from "../events.ts";
import type { RunWatch } from "./watch.ts";

interface TakeoverServices extends ChangeServices {
  readonly runs: RunWatch;
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

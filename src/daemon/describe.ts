import type { RunRecord, WorkerState, WorkerSummary } from "../protocol/results.ts";
import type { ProcessInfo } from "../runtime/process/index.ts";
import type { ProjectRow } from "../store/projects.ts";
import { runById, runsOfWorker, type RunRow } from "../store/runs.ts";
import type { WorkerRow } from "../store/workers.ts";
import type { House } from "./house.ts";

export interface Described {
  summary: WorkerSummary;
  processes: ProcessInfo[];
}

/** A worker as it is right now: what the store says, corrected by a look at its processes. */
export function describeWorker(house: House, project: ProjectRow, worker: WorkerRow): Described {
  const run = worker.holder_run === null ? null : runById(house.db, worker.holder_run);
  const processes = run ? house.watch.processesOf(run) : [];
  const live = processes.length > 0 ? run : null;
  const summary: WorkerSummary = {
    address: `${project.slug}/${worker.name}`,
    project: project.slug,
    name: worker.name,
    vendor: null,
    mode: run?.kind === "client" ? "client" : "foreground",
    state: stateOf(house, worker, live, processes),
    generation: worker.generation,
    run: live && { id: live.id, pid: processes[0]?.pid ?? live.pid, startedAt: iso(live.started_ms) },
    session: null,
    unread: 0,
    restarts: 0,
    attention: live ? attentionOf(live, processes) : null,
    lastEnd: live ? null : lastEndOf(house, worker),
  };
  return { summary, processes };
}

function lastEndOf(house: House, worker: WorkerRow): WorkerSummary["lastEnd"] {
  const [last] = runsOfWorker(house.db, worker.id, 1);
  if (last?.ended_ms == null) return null;
  return { reason: last.reason ?? "ended", exit: last.exit, at: iso(last.ended_ms) };
}

function stateOf(house: House, worker: WorkerRow, live: RunRow | null, processes: ProcessInfo[]): WorkerState {
  if (live === null) return "stopped";
  if (worker.lease_phase === "displacing") return "displaced";
  // A program without an adapter runs; whether it waits for somebody, only an adapter could tell.
  const survivors = processes.every(({ pid }) => pid !== live.pid);
  return live.kind === "client" || survivors || house.watch.hasStarted(live) ? "busy" : "starting";
}

function attentionOf(run: RunRow, processes: ProcessInfo[]): string | null {
  if (processes.some(({ suspended }) => suspended)) return "suspended";
  if (processes.every(({ pid }) => pid !== run.pid))
    return `wrapper gone, ${processes.map(({ command }) => command).join(", ")} lives on`;
  return null;
}

export function describeRun(run: RunRow): RunRecord {
  return {
    id: run.id,
    generation: run.generation,
    startedAt: iso(run.started_ms),
    endedAt: run.ended_ms === null ? null : iso(run.ended_ms),
    exit: run.exit,
    reason: run.reason,
    sessionId: null,
    pid: run.pid,
    displacedBy: run.displaced_by,
  };
}

export function iso(ms: number): string {
  return new Date(ms).toISOString();
}

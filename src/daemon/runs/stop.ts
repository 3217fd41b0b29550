import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { TAKEOVER_KILL_WAIT_MS, TAKEOVER_POLL_MS, TAKEOVER_WRAPPER_WAIT_MS } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { writeFileAtomic } from "../../state/files.ts";
import { displace } from "../../core/lease.ts";
import { agentChain } from "../../launch/nesting.ts";
import type { ProcessInfo } from "../../runtime/process/index.ts";
import { signalRunProcess } from "../../runtime/process/signal.ts";
import { markDisplaced, runById, type RunRow } from "../../store/runs.ts";
import { sessionOfRun } from "../../store/conversations.ts";
import { leaseOf, setLease, workerById } from "../../store/workers.ts";
import { adapterOf } from "../../vendors/index.ts";
import { record, type Stopping, type Watched } from "../services.ts";

type Stopper = Watched;

/** Inside a change. Fences whoever holds the name; returns the run that has to go, or null when nobody holds the name. */
export function displaceRun(house: Stopper, workerId: number, by: string): RunRow | null {
  const worker = workerById(house.db, workerId);
  if (worker === null) return null;
  const lease = leaseOf(worker);
  const run = lease.phase === "free" ? null : runById(house.db, lease.run);
  if (run === null || lease.phase === "displacing") return run;
  if (house.watch.processesOf(run).length === 0) {
    house.watch.finish(run);
    return null;
  }
  house.watch.lastWords(run);
  setLease(house.db, workerId, displace(lease));
  markDisplaced(house.db, run.id, house.now(), by);
  record(
    house,
    "run.displaced",
    { projectId: worker.project_id, workerId, run: run.id, generation: run.generation },
    { by },
  );
  return { ...run, displaced_by: by };
}

/** Stops a run that was fenced, or is to end, and frees its name. Resolves to whether KILL was needed. */
export function stopRun(house: Stopper, run: RunRow, killAfterMs: number): Promise<boolean> {
  const killAtMs = house.monotonicMs() + killAfterMs;
  const underWay = house.stopping.get(run.id);
  if (underWay) {
    underWay.killAtMs = Math.min(underWay.killAtMs, killAtMs);
    return underWay.done;
  }
  const stopping: Stopping = { killAtMs, done: Promise.resolve(false) };
  house.stopping.set(run.id, stopping);
  stopping.done = tellAndStop(house, run, stopping).finally(() => house.stopping.delete(run.id));
  return stopping.done;
}

async function tellAndStop(house: Stopper, run: RunRow, stopping: Stopping): Promise<boolean> {
  // A library claim is a process we did not start: it is fenced and told, never signalled.
  const killed = run.kind === "run" ? await stopProcesses(house, run, stopping) : false;
  await house.writer.write(() => house.watch.finish(run));
  house.watch.forget(run.id);
  return killed;
}

async function stopProcesses(house: Stopper, run: RunRow, stopping: Stopping): Promise<boolean> {
  if (run.displaced_by !== null) tell(house, run, run.displaced_by);
  if (await terminate(house, run, stopping)) return false;
  await kill(house, run);
  return true;
}

function tell(house: Stopper, run: RunRow, by: string): void {
  const note = `perdure: this run (${run.id}) was displaced by ${by}; its name is no longer its own.`;
  try {
    writeFileAtomic(join(house.watch.runDir(run.id), "displaced"), `${note}\n`);
  } catch (error) {
    house.log(`${run.id} cannot be told by whom: ${String(error)}`); // on a full disk, say; it is stopped all the same
  }
}

/** The program first: its wrapper then tells the terminal by whom, puts it right and leaves the code. */
async function kill(house: Stopper, run: RunRow): Promise<void> {
  const startedAt = house.monotonicMs();
  const waited = (): number => house.monotonicMs() - startedAt;
  while (waited() < TAKEOVER_KILL_WAIT_MS) {
    // Again each time: a process may have forked between two looks.
    for (const target of house.watch.allProcessesOf(run)) {
      const spared = target.pid === run.pid && waited() < TAKEOVER_WRAPPER_WAIT_MS;
      if (!spared) signalRunProcess(house.processes, target, house.watch.markOf(run), "SIGKILL");
    }
    await sleep(TAKEOVER_POLL_MS);
    if (house.watch.processesOf(run).length === 0) return;
  }
  const left = house.watch.allProcessesOf(run).map(({ pid }) => pid);
  throw new PerdureError("timed-out", `Processes of ${run.id} are still there after KILL; the name stays fenced.`, {
    hint: `perdure takeover again, or look at: ${left.join(" ")}`,
  });
}

/**
 * TERM goes to the wrapper, which passes it on; with the wrapper gone, to each process that is left of the run. After half
 * of the time to every one of them: some programs are loaders that swallow it. What is known to be loaded by such a one
 * gets it at once.
 */
async function terminate(house: Stopper, run: RunRow, stopping: Stopping): Promise<boolean> {
  const told = new Set<number>();
  const begunAtMs = house.monotonicMs();
  const behindDeaf = loadedByDeaf(house, run);
  for (;;) {
    const left = house.watch.processesOf(run);
    if (left.length === 0) return true;
    const late = house.monotonicMs() > (begunAtMs + stopping.killAtMs) / 2;
    for (const target of late ? house.watch.allProcessesOf(run) : [...left, ...behindDeaf]) {
      if (told.has(target.pid) || !signalRunProcess(house.processes, target, house.watch.markOf(run), "SIGTERM"))
        continue;
      // A suspended process sees TERM only once it goes on.
      signalRunProcess(house.processes, target, house.watch.markOf(run), "SIGCONT");
      told.add(target.pid);
    }
    if (house.monotonicMs() >= stopping.killAtMs) return false;
    await sleep(TAKEOVER_POLL_MS);
  }
}

function loadedByDeaf(house: Stopper, run: RunRow): ProcessInfo[] {
  const vendor = sessionOfRun(house.db, run.id)?.vendor;
  if (vendor === undefined || adapterOf(vendor)?.launch.loaderSwallowsSignals !== true) return [];
  return agentChain(house.processes, run.pid).flatMap((pid) => house.processes.look(pid) ?? []);
}

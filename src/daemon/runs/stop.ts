import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { TAKEOVER_KILL_WAIT_MS, TAKEOVER_POLL_MS, TAKEOVER_WRAPPER_WAIT_MS } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { writeFileAtomic } from "../../state/files.ts";
import { agentChain } from "../../launch/nesting.ts";
import type { ProcessInfo } from "../../runtime/process/index.ts";
import { signalRunProcess } from "../../runtime/process/signal.ts";
import type { Run } from "../../store/runs.ts";
import { conversationOfRun } from "../../store/conversations.ts";
import { adapterOf } from "../../vendors/index.ts";
import type { BaseServices } from "../base-services.ts";
import type { RunWatch } from "./watch.ts";

interface StopServices extends BaseServices {
  readonly runs: RunWatch;
}

interface Stopping {
  /** Resolves to whether KILL was needed. */
  done: Promise<boolean>;
  /** On the monotonic clock. */
  killAtMs: number;
}

/** Stops runs. A run that is asked to stop twice is stopped once, killed at the earlier of the two times. */
export class RunStopper {
  readonly #services: StopServices;
  readonly #underWay = new Map<string, Stopping>();

  constructor(services: StopServices) {
    this.#services = services;
  }

  /** Stops a run that was fenced, or is to end, and frees its name. Resolves to whether KILL was needed. */
  stop(run: Run, killAfterMs: number): Promise<boolean> {
    const killAtMs = this.#services.monotonicMs() + killAfterMs;
    const underWay = this.#underWay.get(run.id);
    if (underWay) {
      underWay.killAtMs = Math.min(underWay.killAtMs, killAtMs);
      return underWay.done;
    }
    const stopping: Stopping = { killAtMs, done: Promise.resolve(false) };
    this.#underWay.set(run.id, stopping);
    stopping.done = stopAndRecord(this.#services, run, stopping).finally(() => this.#underWay.delete(run.id));
    return stopping.done;
  }
}

async function stopAndRecord(services: StopServices, run: Run, stopping: Stopping): Promise<boolean> {
  // A library claim is a process we did not start: it is fenced and told, never signalled.
  const killed = run.kind === "run" ? await stopProcesses(services, run, stopping) : false;
  await services.writer.write(() => services.runs.recordEnd(run));
  services.runs.untrack(run.id);
  return killed;
}

async function stopProcesses(services: StopServices, run: Run, stopping: Stopping): Promise<boolean> {
  if (run.displacedBy !== null) writeDisplacedNote(services, run, run.displacedBy);
  if (await terminate(services, run, stopping)) return false;
  await kill(services, run);
  return true;
}

function writeDisplacedNote(services: StopServices, run: Run, by: string): void {
  const note = `perdure: this run (${run.id}) was displaced by ${by}; its name is no longer its own.`;
  try {
    writeFileAtomic(join(services.runs.runDir(run.id), "displaced"), `${note}\n`);
  } catch (error) {
    services.log(`${run.id} cannot be told by whom: ${String(error)}`); // on a full disk, say; it is stopped all the same
  }
}

/** The program first: its wrapper then tells the terminal by whom, puts it right and leaves the code. */
async function kill(services: StopServices, run: Run): Promise<void> {
  const startedAt = services.monotonicMs();
  const waited = (): number => services.monotonicMs() - startedAt;
  while (waited() < TAKEOVER_KILL_WAIT_MS) {
    // Again each time: a process may have forked between two looks.
    for (const target of services.runs.allProcessesOf(run)) {
      const spared = target.pid === run.pid && waited() < TAKEOVER_WRAPPER_WAIT_MS;
      if (!spared) signalRunProcess(services.processes, target, services.runs.markOf(run), "SIGKILL");
    }
    await sleep(TAKEOVER_POLL_MS);
    if (services.runs.processesOf(run).length === 0) return;
  }
  const left = services.runs.allProcessesOf(run).map(({ pid }) => pid);
  throw new PerdureError("timed-out", `Processes of ${run.id} are still there after KILL; the name stays fenced.`, {
    hint: `perdure takeover again, or look at: ${left.join(" ")}`,
  });
}

/**
 * TERM goes to the wrapper, which passes it on; with the wrapper gone, to each process that is left of the run. After half
 * of the time to every one of them: some programs are loaders that swallow it. What is known to be loaded by such a one
 * gets it at once.
 */
async function terminate(services: StopServices, run: Run, stopping: Stopping): Promise<boolean> {
  const signalled = new Set<number>();
  const begunAtMs = services.monotonicMs();
  const behindLoader = processesBehindLoader(services, run);
  for (;;) {
    const remaining = services.runs.processesOf(run);
    if (remaining.length === 0) return true;
    const isHalfTimeOver = services.monotonicMs() > (begunAtMs + stopping.killAtMs) / 2;
    for (const target of isHalfTimeOver ? services.runs.allProcessesOf(run) : [...remaining, ...behindLoader]) {
      if (
        signalled.has(target.pid) ||
        !signalRunProcess(services.processes, target, services.runs.markOf(run), "SIGTERM")
      )
        continue;
      // A suspended process sees TERM only once it goes on.
      signalRunProcess(services.processes, target, services.runs.markOf(run), "SIGCONT");
      signalled.add(target.pid);
    }
    if (services.monotonicMs() >= stopping.killAtMs) return false;
    await sleep(TAKEOVER_POLL_MS);
  }
}

function processesBehindLoader(services: StopServices, run: Run): ProcessInfo[] {
  const vendor = conversationOfRun(services.db, run.id)?.vendor;
  if (vendor === undefined || adapterOf(vendor)?.launch.loaderSwallowsSignals !== true) return [];
  return agentChain(services.processes, run.pid).flatMap((pid) => services.processes.inspect(pid) ?? []);
}

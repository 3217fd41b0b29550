import { rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { TAKEOVER_KILL_WAIT_MS, TAKEOVER_POLL_MS, TAKEOVER_WRAPPER_WAIT_MS } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { hintOf, verb } from "../../protocol/hint.ts";
import { writeFileAtomic } from "../../state/files.ts";
import { DISPLACED_FILE } from "../../state/paths.ts";
import type { ProcessInfo } from "../../runtime/process/index.ts";
import { ENDED_MARK } from "../../runtime/process/run-fifo.ts";
import { signalRunProcess } from "../../runtime/process/signal.ts";
import type { Run } from "../../store/runs.ts";
import { conversationOfRun } from "../../store/conversations.ts";
import { adapterOf } from "../../vendors/index.ts";
import type { BaseServices } from "../base-services.ts";
import { chainOf, placeOf } from "./elsewhere.ts";
import { START_SCRIPT } from "./identity.ts";
import type { RunWatch } from "./watch.ts";

interface StopServices extends BaseServices {
  readonly runs: RunWatch;
}

interface Stopping {
  /** Resolves to whether KILL was needed. */
  done: Promise<boolean>;
  /** The time of KILL on the monotonic clock. */
  killAtMs: number;
}

/** Stops runs. Two requests for the same run share one stop, with KILL at the earlier of the two times. */
export class RunStopper {
  readonly #services: StopServices;
  readonly #underWay = new Map<string, Stopping>();

  constructor(services: StopServices) {
    this.#services = services;
  }

  /** Frees the name of a fenced run whose processes cannot be seen from here, and so cannot be stopped. */
  async abandon(run: Run): Promise<void> {
    const services = this.#services;
    if (run.displacedBy !== null) writeDisplacedNote(services, run, run.displacedBy);
    await services.writer.write(() => {
      // A wrapper that has not begun yet does not begin any more.
      writeFileSync(join(services.runs.runDir(run.id), ENDED_MARK), "", { mode: 0o600 });
      rmSync(join(services.runs.runDir(run.id), START_SCRIPT), { force: true });
      services.runs.recordEnd(run);
    });
    services.runs.untrack(run.id);
  }

  /** Stops the run and frees its name. Resolves to whether KILL was needed; throws if the run cannot be signalled from here. */
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
  if (services.runs.isElsewhere(run)) {
    throw new PerdureError("refused", `${run.id} is in ${placeOf(run)}, and cannot be stopped from here.`, {
      hint: hintOf`stop it there, or free its name: ${verb("takeover", "NAME")}`,
    });
  }
  // The process of a library client was not started by perdure: it is fenced and notified, never signalled.
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
    writeFileAtomic(join(services.runs.runDir(run.id), DISPLACED_FILE), `${note}\n`);
  } catch (error) {
    services.log(`the note of displacement for ${run.id} could not be written: ${String(error)}`); // it is stopped anyway
  }
}

/** Kills the program before its wrapper, which then prints who displaced the run, restores the terminal and writes the exit code. */
async function kill(services: StopServices, run: Run): Promise<void> {
  const startedAt = services.monotonicMs();
  const waited = (): number => services.monotonicMs() - startedAt;
  while (waited() < TAKEOVER_KILL_WAIT_MS) {
    // The list is read again each time, because a process may have forked in between.
    for (const target of services.runs.allProcessesOf(run)) {
      const spared = target.pid === run.pid && waited() < TAKEOVER_WRAPPER_WAIT_MS;
      if (!spared) signalRunProcess(services.processes, target, services.runs.markOf(run), "SIGKILL");
    }
    await sleep(TAKEOVER_POLL_MS);
    if (services.runs.processesOf(run).length === 0) return;
  }
  const pids = services.runs.allProcessesOf(run).map(({ pid }) => pid);
  throw new PerdureError("timed-out", `Processes of ${run.id} survived KILL; the name stays fenced.`, {
    hint: hintOf`${verb("takeover", "NAME")} again, or inspect the pids: ${pids.join(" ")}`,
  });
}

/**
 * Sends TERM to the wrapper, which passes it on; if the wrapper is gone, to each remaining process of the run. Some programs
 * are loaders that swallow the signal: after half of the time every process gets it, and a program that is known to be
 * behind such a loader gets it at once. Returns whether all of them ended in time.
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
      // A suspended process sees TERM only once it continues.
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
  return chainOf(services.processes, run).flatMap((pid) => services.processes.inspect(pid) ?? []);
}

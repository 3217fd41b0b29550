import { setTimeout as sleep } from "node:timers/promises";
import { STAYS_UP_LOOK_MS, STAYS_UP_POLL_MS } from "../../limits/index.ts";
import type { ProjectRef } from "../../protocol/calls/index.ts";
import type { UpItem } from "../../protocol/records/fleet.ts";
import type { WorkerSummary } from "../../protocol/records/worker.ts";
import { listFromDaemon } from "../shared/call.ts";

/**
 * Looks for a moment whether what was started stays up, and returns the workers that failed instead. An agent that shows a state of
 * its own is up; of a plain program only the time can tell.
 */
export async function endedAtOnce(here: ProjectRef, items: readonly UpItem[]): Promise<WorkerSummary[]> {
  const generations = new Map(
    items.filter(({ outcome }) => outcome === "started").map(({ address, generation }) => [address, generation]),
  );
  const deadline = performance.now() + STAYS_UP_LOOK_MS;
  for (;;) {
    const { items: all } = await listFromDaemon("ls", { here, project: null, all: false });
    const started = all.filter(({ address }) => generations.has(address));
    const failed = started.filter((worker) => hasFailed(worker, generations.get(worker.address)));
    const isDecided = started.every((worker) => failed.includes(worker) || isAtWork(worker));
    if (isDecided || performance.now() > deadline) return failed;
    await sleep(STAYS_UP_POLL_MS);
  }
}

/** Tells whether the run has ended, and not because it was done; another one may have followed it. */
function hasFailed({ state, mode, run, generation, lastEnd }: WorkerSummary, started: number | undefined): boolean {
  if (FAILED.has(state) || (state === "on-hold" && run === null)) return true;
  if (state === "stopped") return lastEnd !== null && lastEnd.exit !== 0 && lastEnd.reason !== "stopped";
  return mode === "tmux" && generation !== started;
}

const FAILED: ReadonlySet<string> = new Set(["backing-off", "crash-looping", "unresumable"]);

function isAtWork({ state }: WorkerSummary): boolean {
  return state === "idle" || state === "busy" || state === "blocked";
}

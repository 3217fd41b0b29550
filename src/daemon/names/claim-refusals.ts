import type { LaunchServices } from "../launch/services.ts";
import { COMMAND_BYTES_MAX, ENVIRONMENT_BYTES_MAX } from "../../limits/index.ts";
import type { CallParams } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { formatAddress } from "../../protocol/names.ts";
import type { ProcessInfo } from "../../runtime/process/index.ts";
import type { Project } from "../../store/projects.ts";
import { holderOf, type Run } from "../../store/runs.ts";
import type { Worker } from "../../store/workers.ts";

/** Makes the error that says which run holds the name, since when, and how to take over. */
export function heldError(
  project: Project,
  worker: Worker,
  run: Run | null,
  processes: ProcessInfo[],
  because: "held" | "displacing",
): PerdureError {
  const address = formatAddress(project.slug, worker.name);
  const since = new Date(run?.startedMs ?? 0).toISOString();
  const pid = processes[0]?.pid ?? run?.pid;
  const survivor = run && pid !== run.pid ? ` (its wrapper is gone; ${processes[0]?.command} lives on)` : "";
  const state = because === "held" ? "is held" : "is being taken over; it is still held";
  return new PerdureError("held", `${address} ${state} by run ${run?.id}, pid ${pid}${survivor}, since ${since}.`, {
    hint: `perdure takeover ${address}`,
    details: {
      address,
      run: run?.id,
      pid,
      since,
      generation: worker.lease.generation,
      processes: processes.map(({ pid: each, command }) => ({ pid: each, command })),
    },
  });
}

export function assertSizes(params: CallParams<"claim">): void {
  const command = JSON.stringify(params.command).length;
  const environment = JSON.stringify(params.environment).length;
  if (command > COMMAND_BYTES_MAX) {
    throw new PerdureError("usage", `The command line has ${command} bytes; the limit is ${COMMAND_BYTES_MAX}.`, {
      hint: "put long text in a file",
    });
  }
  if (environment > ENVIRONMENT_BYTES_MAX) {
    throw new PerdureError(
      "usage",
      `The environment has ${environment} bytes; the limit is ${ENVIRONMENT_BYTES_MAX}.`,
      {
        hint: "unset large variables first",
      },
    );
  }
}

interface AgentClaim {
  address: string;
  name: string;
  /** The worker whose agent claims. */
  starter: number;
  /** The worker that has the name; null for a new name. */
  worker: Worker | null;
  /** Whether the project's fleet file declares the name. */
  declared: boolean;
}

/**
 * Refuses an agent the names of others: with a name come its mail, its sender and the command of its next start. An agent may
 * claim a name that is new and that the fleet file does not declare, and workers that it started itself.
 */
export function assertAgentMayClaim({ address, name, starter, worker, declared }: AgentClaim): void {
  const own = worker !== null && (worker.startedBy === starter || worker.id === starter);
  if (own || (worker === null && !declared)) return;
  const whose = worker === null ? "is declared in perdure.toml" : "is not a worker that it started";
  throw new PerdureError("refused", `An agent may not claim ${address}: it ${whose}.`, {
    hint: `ask the operator to run: perdure ${declared ? "up" : "run"} ${name}`,
    details: { address },
  });
}

/** Throws while a process of the worker lives. */
export function assertStopped(services: Pick<LaunchServices, "db" | "runs">, worker: Worker): void {
  const run = holderOf(services.db, worker);
  const [holder] = run ? services.runs.processesOf(run) : [];
  if (!run || !holder) return;
  throw new PerdureError("held", `${worker.name} is running: run ${run.id}, pid ${holder.pid}.`, {
    hint: `stop it first: perdure stop ${worker.name}`,
  });
}

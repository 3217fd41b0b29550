import type { ChangeServices } from "../base-services.ts";
import { isReplaced, replacedProblem } from "../launch/replaced.ts";
import type { LaunchServices } from "../launch/services.ts";
import { COMMAND_BYTES_MAX, ENVIRONMENT_BYTES_MAX } from "../../limits/index.ts";
import type { CallParams, Target } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { hintOf, startVerb, verb, type HintLike } from "../../protocol/hint.ts";
import { formatAddress } from "../../protocol/names.ts";
import type { ProcessInfo } from "../../runtime/process/index.ts";
import type { Project } from "../../store/projects.ts";
import { holderOf, PENDING_PANE, type Run } from "../../store/runs.ts";
import { turnOfRun } from "../../store/turns.ts";
import { countWorkers, type Worker } from "../../store/workers.ts";
import type { Actor } from "../permissions/actor.ts";
import { isOnlyRecorded, placeOf } from "../runs/elsewhere.ts";
import { projectOf } from "./lookup.ts";

interface HeldName {
  project: Project;
  worker: Worker;
  run: Run | null;
  processes: ProcessInfo[];
}

/** Makes the error that says which run holds the name, since when, and how to take over. */
export function heldError(
  services: Pick<LaunchServices, "processes" | "db" | "now">,
  { project, worker, run, processes }: HeldName,
  because: "held" | "displacing",
): PerdureError {
  const address = formatAddress(project.slug, worker.name);
  if (run?.turn === 1 && because === "held") return turningError(services, address, run);
  const since = new Date(run?.startedMs ?? 0).toISOString();
  const pid = processes[0]?.pid ?? run?.pid;
  const survivor = run && pid !== run.pid ? ` (its wrapper is gone; ${processes[0]?.command} still runs)` : "";
  const state = because === "held" ? "is held" : "is being taken over; it is still held";
  const elsewhere = run && processes.some((each) => isOnlyRecorded(services.processes, each)) ? placeOf(run) : null;
  const [where, unseen] =
    elsewhere === null ? ["", ""] : [` in ${elsewhere}`, "; whether it still runs cannot be seen from here"];
  const holder = `run ${run?.id}, pid ${pid}${survivor}${where}, since ${since}${unseen}`;
  return new PerdureError("held", `${address} ${state} by ${holder}.`, {
    hint: heldHint(address, run, elsewhere),
    details: {
      address,
      ...(elsewhere !== null && { elsewhere }),
      run: run?.id,
      pid,
      since,
      generation: worker.lease.generation,
      processes: processes.map(({ pid: each, command }) => ({ pid: each, command })),
    },
  });
}

/** Makes the error for a worker that answers its mail just now, which ends by itself. */
export function turningError({ db, now }: Pick<LaunchServices, "db" | "now">, address: string, run: Run): PerdureError {
  const seconds = Math.max(0, Math.round((now() - run.startedMs) / 1000));
  const ask = turnOfRun(db, run.id)?.ask ?? null;
  const what = ask === null ? "" : `; it answers ${ask}`;
  const wait = verb("wait", address, "--ended");
  return new PerdureError("held", `${address} is in a turn, for ${seconds} s${what}.`, {
    hint: ask === null ? wait : hintOf`${wait}; or stop the turn: ${verb("cancel", ask)}`,
    details: { address, run: run.id, pid: run.pid, since: new Date(run.startedMs).toISOString(), ask },
  });
}

/** A worker in a pane can be looked at, which is what most who start it once more want. */
function heldHint(address: string, run: Run | null, elsewhere: string | null): HintLike {
  const takeover = verb("takeover", address);
  if (elsewhere !== null) return hintOf`stop it there, or free the name: ${takeover}`;
  const isInPane = run !== null && run.pane !== null && run.pane !== PENDING_PANE;
  return isInPane ? hintOf`go to it: ${verb("attach", address)}; or stop it and free the name: ${takeover}` : takeover;
}

/** Refuses to start anything in a project while another repository is at its path; one without workers has nothing to lose. */
export async function assertNotReplaced(
  services: ChangeServices,
  target: Pick<Target, "project" | "here">,
): Promise<void> {
  const project = projectOf(services, target);
  if (project === null || countWorkers(services.db, project.id) === 0 || !(await isReplaced(project))) return;
  const { message, hint } = replacedProblem(project);
  throw new PerdureError("refused", message, { hint, details: { replaced: project.slug } });
}

/**
 * Refuses a claimer of another pid namespace: its pid is another process here, or none, so its end would never be seen. A
 * claimer of an older perdure does not say where it is.
 */
export function assertSeen({ processes, host }: LaunchServices, { namespace }: CallParams<"claim">): void {
  if (namespace === undefined || namespace === processes.namespace()) return;
  const [theirs, ours] = [namespace, processes.namespace()].map((each) => each.split(" ")[0]);
  const message = `Names cannot be claimed from here: the daemon runs in another pid namespace (${ours} of ${host}) than this process (${theirs}), and could not see it end.`;
  throw new PerdureError("refused", message, {
    hint: hintOf`claim there, or stop that daemon first (${verb("daemon", "stop")}; workers keep running), or use another state folder (PERDURE_HOME)`,
    details: { namespace: ours, host },
  });
}

export function assertSizes(params: CallParams<"claim">): void {
  const command = JSON.stringify(params.command).length;
  const environment = JSON.stringify({ ...params.environment, ...params.own }).length;
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

/** Refuses an agent that would choose between the two sides of a conversation: only a person can tell which of them counts. */
export function assertMayAccept({ accept, target }: CallParams<"claim">, actor: Actor): void {
  if (accept !== true || actor.kind === "operator") return;
  throw new PerdureError("refused", "Only the operator can choose the other side of a conversation.", {
    hint: hintOf`outside of any worker: ${verb("run", target.name, "--accept")}`,
  });
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
  /** The slug of the agent's own project, if the name is one of another project. */
  elsewhere: string | null;
}

/**
 * Refuses an agent the names of others: with a name come its mail, its sender and the command of its next start. An agent may
 * claim a name of its own project that is new and that the fleet file does not declare, and workers that it started itself.
 * From a name of another project it could mail there, which an agent may not.
 */
export function assertAgentMayClaim({ address, name, starter, worker, declared, elsewhere }: AgentClaim): void {
  if (elsewhere !== null) {
    throw new PerdureError("refused", `An agent of project ${elsewhere} may not claim a name of another: ${address}.`, {
      hint: hintOf`claim a name of its own project: ${verb("run", `${elsewhere}/${name}`)}; or ask the operator to run: ${verb("run", address)}`,
      details: { address },
    });
  }
  const own = worker !== null && (worker.startedBy === starter || worker.id === starter);
  if (own || (worker === null && !declared)) return;
  const whose = worker === null ? "is declared in perdure.toml" : "is not a worker that it started";
  throw new PerdureError("refused", `An agent may not claim ${address}: it ${whose}.`, {
    hint: hintOf`ask the operator to run: ${startVerb(name, declared)}`,
    details: { address },
  });
}

/** Throws while a process of the worker lives. */
export function assertStopped(services: Pick<LaunchServices, "db" | "runs" | "processes">, worker: Worker): void {
  const run = holderOf(services.db, worker);
  const [holder] = run ? services.runs.processesOf(run) : [];
  if (!run || !holder) return;
  const where = isOnlyRecorded(services.processes, holder) ? ` in ${placeOf(run)}` : "";
  throw new PerdureError("held", `${worker.name} is running: run ${run.id}, pid ${holder.pid}${where}.`, {
    hint: hintOf`stop it first: ${verb(where === "" ? "stop" : "takeover", worker.name)}`,
  });
}

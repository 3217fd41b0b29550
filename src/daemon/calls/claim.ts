import { nextEpoch } from "../../core/epoch.ts";
import { claim, standing } from "../../core/lease.ts";
import { COMMAND_BYTES_MAX, EARLIER_RUNS_TOLD, ENVIRONMENT_BYTES_MAX, WORKERS_PER_PROJECT_MAX } from "../../limits.ts";
import type { CallParams } from "../../protocol/calls.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { checkName, nameKey } from "../../protocol/names.ts";
import type { ClaimGrant } from "../../protocol/results.ts";
import { sha256 } from "../../protocol/sha256.ts";
import { epochKey, formatRunId } from "../../protocol/run-id.ts";
import type { ProcessInfo } from "../../runtime/process/index.ts";
import { lastEpoch, setEpoch } from "../../store/epochs.ts";
import { readMeta } from "../../store/meta.ts";
import type { ProjectRow } from "../../store/projects.ts";
import { insertRun, runById, runByToken, runsOfWorker, type RunRow } from "../../store/runs.ts";
import {
  countWorkers,
  insertWorker,
  leaseOf,
  setLaunch,
  setLease,
  workerByName,
  type WorkerRow,
} from "../../store/workers.ts";
import { assertCurrent } from "../actor.ts";
import { record, type House } from "../house.ts";
import { heirOf, projectOf, registerProject, renamedError } from "../places.ts";
import { publishProjects } from "../publish.ts";
import type { CallContext } from "./context.ts";

/** Claims a name for a process. One transaction: a holder that is dead or none, a generation more, a run recorded. */
export async function claimCall(params: CallParams<"claim">, context: CallContext): Promise<ClaimGrant> {
  const { house, actor } = context;
  checkSizes(params);
  const holder = house.processes.look(params.pid);
  if (holder === null) throw new PerdureError("usage", `There is no process ${params.pid} to claim a name for.`);
  const claimed = await house.writer.write(() => {
    // Here and not before: a takeover may have been committed since the call came in.
    if (actor.kind === "worker") assertCurrent(house, actor.run.id, actor.run.generation);
    return claimName(house, params, holder);
  });
  if (claimed.replaced) house.watch.forget(claimed.replaced);
  house.watch.track(claimed.run);
  if (claimed.registered) publishProjects(house);
  if (params.kind === "client") context.holdWhileConnected(claimed.run.id);
  const { project, worker, run } = claimed;
  return {
    address: `${project.slug}/${worker.name}`,
    project: project.slug,
    name: worker.name,
    run: run.id,
    generation: run.generation,
    token: params.token,
    command: claimed.command,
    cwd: claimed.cwd,
    earlierRuns: claimed.earlierRuns,
    runDir: house.watch.runDir(run.id),
    wrapper: house.wrapper(),
    socket: house.paths.socket,
  };
}

interface Claimed {
  project: ProjectRow;
  worker: WorkerRow;
  run: RunRow;
  command: string[] | null;
  cwd: string | null;
  earlierRuns: string[];
  registered: boolean;
  replaced: string | null;
}

/** Inside a change: whatever throws here leaves nothing behind, not even the project's registration. */
function claimName(house: House, params: CallParams<"claim">, holder: ProcessInfo): Claimed {
  const known = projectOf(house, params.target);
  const project = known ?? registerProject(house, params.target.here);
  const worker = findOrCreate(house, project, params);
  const again = sameClaim(house, params, project, worker);
  if (again) return again;
  const lease = leaseOf(worker);
  const previous = lease.phase === "free" ? null : runById(house.db, lease.run);
  const processes = previous ? house.watch.processesOf(previous) : [];
  const epoch = mintEpoch(house, project, worker);
  const id = formatRunId({ host: house.host, project: project.slug, worker: worker.name, epoch });
  const decision = claim(lease, id, processes.length > 0);
  if (!decision.granted) throw heldError(project, worker, previous, processes, decision.because);
  if (previous) house.watch.finish(previous, "replaced");

  const launch = launchOf(house, params, worker);
  const earlierRuns = runsOfWorker(house.db, worker.id, EARLIER_RUNS_TOLD).map((earlier) => earlier.id);
  insertRun(house.db, {
    id,
    worker_id: worker.id,
    generation: decision.lease.generation,
    kind: params.kind,
    token_hash: sha256(params.token),
    pid: holder.pid,
    process_started: holder.startedAt,
    boot_id: holder.bootId,
    started_ms: house.now(),
  });
  setLease(house.db, worker.id, decision.lease);
  const subject = { projectId: project.id, workerId: worker.id, run: id, generation: decision.lease.generation };
  record(house, "run.claimed", subject, { pid: holder.pid, kind: params.kind });
  const run = runById(house.db, id);
  if (run === null) throw new Error(`run ${id} vanished in its own transaction`);
  return { project, worker, run, registered: known === null, replaced: decision.replaced, earlierRuns, ...launch };
}

/** The answer to this very claim was lost, and it is asked again: the same token, process and worker. */
function sameClaim(house: House, params: CallParams<"claim">, project: ProjectRow, worker: WorkerRow): Claimed | null {
  const run = runByToken(house.db, sha256(params.token));
  if (run === null) return null;
  const held = standing(leaseOf(worker), run.id, run.generation) === "current";
  if (!held || run.worker_id !== worker.id || run.pid !== params.pid) {
    throw new PerdureError("conflict", `The token of this claim was used for ${run.id}.`, {
      hint: "claim with a new token",
    });
  }
  const command = worker.command === null ? null : (JSON.parse(worker.command) as string[]);
  return { project, worker, run, command, cwd: worker.cwd, earlierRuns: [], registered: false, replaced: null };
}

function findOrCreate(house: House, project: ProjectRow, params: CallParams<"claim">): WorkerRow {
  const name = checkName(params.target.name);
  const key = nameKey(name);
  const known = workerByName(house.db, project.id, key);
  if (known) return known;
  const heir = heirOf(house, project.id, key);
  if (heir) throw renamedError(project, name, heir);
  if (countWorkers(house.db, project.id) >= WORKERS_PER_PROJECT_MAX) {
    throw new PerdureError("refused", `Project ${project.slug} has ${WORKERS_PER_PROJECT_MAX} workers already.`, {
      hint: "perdure retire NAME",
    });
  }
  const ephemeral = params.ephemeral ? 1 : 0;
  const row = { project_id: project.id, name, name_key: key, created_ms: house.now(), ephemeral };
  const id = insertWorker(house.db, row);
  record(house, "worker.created", { projectId: project.id, workerId: id });
  const created = workerByName(house.db, project.id, key);
  if (created === null) throw new Error(`worker ${name} vanished in its own transaction`);
  return created;
}

function mintEpoch(house: House, project: ProjectRow, worker: WorkerRow): number {
  const key = epochKey(house.host, project.slug, worker.name);
  const epoch = nextEpoch(house.now(), lastEpoch(house.db, key), readMeta(house.db, "epoch_floor") ?? 0);
  setEpoch(house.db, key, epoch);
  return epoch;
}

/** The given command, or the one of last time, in its folder of last time. */
function launchOf(
  house: House,
  params: CallParams<"claim">,
  worker: WorkerRow,
): { command: string[] | null; cwd: string | null } {
  if (params.kind === "client") return { command: null, cwd: null };
  if (params.command !== null) {
    const cwd = params.cwd ?? "/";
    setLaunch(house.db, worker.id, JSON.stringify(params.command), cwd, JSON.stringify(params.environment));
    return { command: params.command, cwd };
  }
  if (worker.command === null) {
    throw new PerdureError("usage", `${worker.name} has never been started, so there is no command to use again.`, {
      hint: `perdure run ${worker.name} -- COMMAND`,
    });
  }
  // The same command again, with the environment of today: keys are renewed.
  setLaunch(house.db, worker.id, worker.command, worker.cwd ?? "/", JSON.stringify(params.environment));
  return { command: JSON.parse(worker.command) as string[], cwd: worker.cwd };
}

function heldError(
  project: ProjectRow,
  worker: WorkerRow,
  run: RunRow | null,
  processes: ProcessInfo[],
  because: "held" | "displacing",
): PerdureError {
  const address = `${project.slug}/${worker.name}`;
  const since = new Date(run?.started_ms ?? 0).toISOString();
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
      generation: worker.generation,
      processes: processes.map(({ pid: each, command }) => ({ pid: each, command })),
    },
  });
}

function checkSizes(params: CallParams<"claim">): void {
  const command = JSON.stringify(params.command).length;
  const environment = JSON.stringify(params.environment).length;
  if (command > COMMAND_BYTES_MAX) {
    throw new PerdureError("usage", `The command line has ${command} bytes, at most ${COMMAND_BYTES_MAX} are kept.`, {
      hint: "put long text in a file",
    });
  }
  if (environment > ENVIRONMENT_BYTES_MAX) {
    throw new PerdureError(
      "usage",
      `The environment has ${environment} bytes, at most ${ENVIRONMENT_BYTES_MAX} are kept.`,
      {
        hint: "unset large variables first",
      },
    );
  }
}

import { nextEpoch } from "../../core/epoch.ts";
import { claimLease, leaseStanding } from "../../core/lease.ts";
import { EARLIER_RUNS_LISTED } from "../../limits/index.ts";
import { declaredNameKeys } from "../../project/fleet/names.ts";
import type { CallParams } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { nameKey, formatAddress } from "../../protocol/names.ts";
import { epochKey, formatRunId } from "../../protocol/run-id.ts";
import type { ProcessInfo } from "../../runtime/process/index.ts";
import { lastEpoch, setEpoch } from "../../store/epochs.ts";
import { readMeta } from "../../store/meta.ts";
import { projectById, type Project } from "../../store/projects.ts";
import { insertRun, runById, runByToken, runsOfWorker, type Run } from "../../store/runs.ts";
import { setLease, setStartedBy, workerById, workerByName, type Worker } from "../../store/workers.ts";
import { requirePresent } from "../../util/require-present.ts";
import { sha256 } from "../../util/sha256.ts";
import type { BaseServices } from "../base-services.ts";
import { recordEvent } from "../events.ts";
import type { RunWatch } from "../runs/watch.ts";
import { assertAgentMayClaim, heldError } from "./claim-refusals.ts";
import { recordFolder } from "./fingerprints.ts";
import { projectOf, registerProject } from "./lookup.ts";
import { findOrCreateWorker } from "./workers.ts";

interface LeaseServices extends BaseServices {
  readonly runs: RunWatch;
}

/** The part of a claim that concerns the name alone. */
type LeaseRequest = Pick<CallParams<"claim">, "target" | "kind" | "token" | "pid" | "namespace" | "ephemeral">;

/** The process that the name is claimed for, and who started it. */
export interface Claimant {
  holder: ProcessInfo;
  /** The worker whose agent claims; null for the operator. */
  starter: number | null;
  /** The pane that the run is to be in; null for none. */
  pane: string | null;
  /** The run is one turn without a terminal. */
  turn?: boolean;
}

export interface GrantedLease {
  project: Project;
  worker: Worker;
  run: Run;
  /** Earlier runs of the worker, newest first. */
  earlierRuns: string[];
  /** The claim has made the project. */
  registered: boolean;
  /** The run that ended without a sign and had the name until now; null for none. */
  replaced: string | null;
  /** This very claim was made before, and its answer was lost. */
  isRepeat: boolean;
}

/** Takes the lease of a name, inside a change: no holder lives, the generation rises, and the run is minted and recorded. */
export function takeLease(services: LeaseServices, request: LeaseRequest, claimant: Claimant): GrantedLease {
  const { target, kind, token, namespace } = request;
  const { holder, starter, pane } = claimant;
  const known = projectOf(services, target);
  // A project that was named by its slug is wherever it is: the caller may stand anywhere.
  const project = target.project === null || known === null ? registerProject(services, target.here) : known;
  if (known) recordFolder(services, project);
  if (starter !== null) assertAgentMayClaim(agentClaim(services, project, target.name, starter));
  const worker = findOrCreateWorker(services, project, target.name, request.ephemeral);
  const repeated = repeatedRun(services, request, worker);
  if (repeated) {
    return { project, worker, run: repeated, earlierRuns: [], registered: false, replaced: null, isRepeat: true };
  }
  const previous = worker.lease.phase === "free" ? null : runById(services.db, worker.lease.run);
  const processes = previous ? services.runs.processesOf(previous) : [];
  const epoch = mintEpoch(services, project, worker);
  const id = formatRunId({ host: services.host, project: project.slug, worker: worker.name, epoch });
  const decision = claimLease(worker.lease, id, processes.length > 0);
  if (!decision.granted) throw heldError(services, { project, worker, run: previous, processes }, decision.because);
  if (previous) services.runs.recordEnd(previous, "replaced");
  const earlierRuns = runsOfWorker(services.db, worker.id, EARLIER_RUNS_LISTED).map((earlier) => earlier.id);
  const { generation } = decision.lease;
  insertRun(services.db, {
    id,
    workerId: worker.id,
    generation,
    kind,
    tokenHash: sha256(token),
    pid: holder.pid,
    processStarted: holder.startedAt,
    bootId: holder.bootId,
    namespace: namespace ?? null,
    host: namespace === undefined ? null : services.host,
    startedMs: services.now(),
    pane,
    turn: claimant.turn === true ? 1 : 0,
  });
  setLease(services.db, worker.id, decision.lease);
  // Mail begins a turn, and no worker becomes somebody else's by that.
  const isOwn = starter === worker.id || claimant.turn === true;
  setStartedBy(services.db, worker.id, isOwn ? worker.startedBy : starter);
  const subject = { projectId: project.id, workerId: worker.id, run: id, generation };
  recordEvent(services, "run.claimed", subject, { pid: holder.pid, kind });
  const run = requirePresent(runById(services.db, id), `run ${id}`);
  return {
    project,
    worker,
    run,
    earlierRuns,
    registered: known?.identity !== project.identity,
    replaced: decision.replaced,
    isRepeat: false,
  };
}

/** Returns the run of this very claim (token, process and worker) if it was made before and its answer was lost. */
function repeatedRun(services: LeaseServices, { token, pid }: LeaseRequest, worker: Worker): Run | null {
  const run = runByToken(services.db, sha256(token));
  if (run === null) return null;
  const isCurrent = leaseStanding(worker.lease, run.id, run.generation) === "current";
  if (isCurrent && run.workerId === worker.id && run.pid === pid) return run;
  throw new PerdureError("conflict", `The token of this claim was already used for ${run.id}.`, {
    hint: "claim with a new token",
  });
}

function agentClaim(
  services: LeaseServices,
  project: Project,
  name: string,
  starter: number,
): Parameters<typeof assertAgentMayClaim>[0] {
  const key = nameKey(name);
  const { projectId } = requirePresent(workerById(services.db, starter), `worker ${starter}`);
  const isElsewhere = projectId !== project.id;
  return {
    address: formatAddress(project.slug, name),
    name,
    starter,
    worker: workerByName(services.db, project.id, key),
    // A file of another project is not opened for an agent.
    declared: !isElsewhere && declaredNameKeys(project.root).has(key),
    elsewhere: isElsewhere ? (projectById(services.db, projectId)?.slug ?? String(projectId)) : null,
  };
}

function mintEpoch(services: LeaseServices, project: Project, worker: Worker): number {
  const key = epochKey(services.host, project.slug, worker.name);
  const epoch = nextEpoch(services.now(), lastEpoch(services.db, key), readMeta(services.db, "epoch_floor") ?? 0);
  setEpoch(services.db, key, epoch);
  return epoch;
}

import { nextEpoch } from "../../core/epoch.ts";
import { claimLease, leaseStanding } from "../../core/lease.ts";
import { EARLIER_RUNS_LISTED } from "../../limits/index.ts";
import type { CallParams, Target } from "../../protocol/calls/index.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import { nameKey, formatAddress } from "../../protocol/names.ts";
import type { ClaimGrant } from "../../protocol/records/launch.ts";
import { sha256 } from "../../util/sha256.ts";
import { epochKey, formatRunId } from "../../protocol/run-id.ts";
import type { ProcessInfo } from "../../runtime/process/index.ts";
import { lastEpoch, setEpoch } from "../../store/epochs.ts";
import { readMeta } from "../../store/meta.ts";
import type { Project } from "../../store/projects.ts";
import { insertRun, PENDING_PANE, runById, runByToken, runsOfWorker, type Run } from "../../store/runs.ts";
import { boundConversation, type Conversation } from "../../store/conversations.ts";
import { setLease, setStartedBy, setUnresumable, workerById, workerByName, type Worker } from "../../store/workers.ts";
import { declaredNameKeys } from "../../project/fleet/names.ts";
import { requirePresent } from "../../util/require-present.ts";
import { assertCurrent, type Actor } from "../permissions/actor.ts";
import { recordEvent } from "../events.ts";
import type { LaunchServices } from "../launch/services.ts";
import { repeatedOrder, type Orders } from "../launch/orders.ts";
import { planLaunch } from "../launch/plan.ts";
import { probeBinding, type ConversationProbe } from "../launch/probe-binding.ts";
import { requireLaunchSpec, storeLaunchSpec, launchSpecOf, type LaunchSpec } from "../launch/spec.ts";
import { projectOf, registerProject } from "./lookup.ts";
import { publishProjects } from "./projects-index.ts";
import { findOrCreateWorker } from "./workers.ts";
import { assertAgentMayClaim, assertSizes, heldError } from "./claim-refusals.ts";

interface Claimer {
  actor: Actor;
  /** Set when the daemon claims for a pane that it is about to make. */
  forPane?: true;
}

/** Claims a name for a process: one change checks that no holder lives, raises the generation and records the run. */
export async function claim(
  services: LaunchServices,
  params: CallParams<"claim">,
  claimer: Claimer,
): Promise<ClaimGrant> {
  assertSizes(params);
  const holder = services.processes.inspect(params.pid);
  if (holder === null) throw new PerdureError("usage", `There is no process ${params.pid} to claim a name for.`);
  const claimed = await claimInConversation(services, params, holder, claimer).catch((error: unknown) =>
    recordRefusal(services, params, error),
  );
  services.runs.claimed(claimed.run, claimed.replaced);
  if (claimed.registered) publishProjects(services);
  const { project, worker, run } = claimed;
  return {
    address: formatAddress(project.slug, worker.name),
    project: project.slug,
    name: worker.name,
    run: run.id,
    generation: run.generation,
    token: params.token,
    command: claimed.command,
    cwd: claimed.cwd,
    launch: claimed.launch,
    mint: claimed.mint,
    earlierRuns: claimed.earlierRuns,
    runDir: services.runs.runDir(run.id),
    wrapper: services.wrapper(),
    socket: services.paths.socket,
  };
}

/**
 * Probes the conversation first, because that takes time, then claims in a change that decides by the findings. If the worker
 * was bound to another conversation in between, it starts over.
 */
async function claimInConversation(
  services: LaunchServices,
  params: CallParams<"claim">,
  holder: ProcessInfo,
  { actor, forPane }: Claimer,
): Promise<GrantedClaim> {
  for (;;) {
    await endDeadHolder(services, params.target);
    const probe = await probeBinding(
      services,
      params.kind === "run" ? boundConversationOf(services, params.target) : null,
    );
    const claimed = await services.writer
      .write(() => {
        // Checked inside the change, because a takeover may have been committed since the call came in.
        if (actor.kind === "worker") assertCurrent(services, actor.run.id, actor.run.generation);
        const starter = actor.kind === "worker" ? actor.run.workerId : null;
        return claimName(services, params, holder, probe, starter, forPane ? PENDING_PANE : null);
      })
      .catch((error: unknown) => {
        if (error instanceof BindingChanged) return null;
        throw error;
      });
    if (claimed) return claimed;
  }
}

/**
 * Ends the last run if its processes are gone: its last signs may lead to another conversation, which is then the one to
 * probe, and a late pane must find nothing to start.
 */
async function endDeadHolder(services: LaunchServices, target: Target): Promise<void> {
  const holder = targetWorker(services, target)?.holderRun ?? null;
  const run = holder === null ? null : runById(services.db, holder);
  if (run?.kind === "run" && services.runs.processesOf(run).length === 0)
    await services.runs.endIfGone(run, "replaced");
}

class BindingChanged extends Error {}

function boundConversationOf(services: LaunchServices, target: Target): Conversation | null {
  const worker = targetWorker(services, target);
  return boundConversation(services.db, worker);
}

function targetWorker(services: LaunchServices, target: Target): Worker | null {
  const project = projectOf(services, target);
  return project && workerByName(services.db, project.id, nameKey(target.name));
}

/** Records why the worker cannot be resumed, which `ls` shows until a start succeeds, and rethrows the error. */
async function recordRefusal(services: LaunchServices, params: CallParams<"claim">, error: unknown): Promise<never> {
  if (isPerdureError(error) && error.details?.unresumable === true) {
    await services.writer.write(() => {
      const worker = targetWorker(services, params.target);
      if (worker) setUnresumable(services.db, worker.id, error.message);
    });
  }
  throw error;
}

interface GrantedClaim extends Orders {
  project: Project;
  worker: Worker;
  run: Run;
  command: string[] | null;
  cwd: string | null;
  earlierRuns: string[];
  registered: boolean;
  replaced: string | null;
}

/** Claims the name inside a change, so that an error undoes everything, even the registration of the project. */
function claimName(
  services: LaunchServices,
  params: CallParams<"claim">,
  holder: ProcessInfo,
  probe: ConversationProbe,
  starter: number | null,
  pane: string | null,
): GrantedClaim {
  const known = projectOf(services, params.target);
  const project = known ?? registerProject(services, params.target.here);
  if (starter !== null) assertAgentMayClaim({ ...agentClaim(services, project, params.target.name), starter });
  const worker = findOrCreateWorker(services, project, params.target.name, params.ephemeral);
  const repeated = repeatedClaim(services, params, project, worker);
  if (repeated) return repeated;
  const lease = worker.lease;
  const previous = lease.phase === "free" ? null : runById(services.db, lease.run);
  const processes = previous ? services.runs.processesOf(previous) : [];
  const epoch = mintEpoch(services, project, worker);
  const id = formatRunId({ host: services.host, project: project.slug, worker: worker.name, epoch });
  const decision = claimLease(lease, id, processes.length > 0);
  if (!decision.granted) throw heldError(project, worker, previous, processes, decision.because);
  if (previous) services.runs.recordEnd(previous, "replaced");

  const spec = params.kind === "run" ? requireLaunchSpec(params, worker) : null;
  // Read again, because recording the end of the last run may have changed the binding.
  if (spec && workerById(services.db, worker.id)?.conversationId !== probe.conversationId) throw new BindingChanged();
  const earlierRuns = runsOfWorker(services.db, worker.id, EARLIER_RUNS_LISTED).map((earlier) => earlier.id);
  insertRun(services.db, {
    id,
    workerId: worker.id,
    generation: decision.lease.generation,
    kind: params.kind,
    tokenHash: sha256(params.token),
    pid: holder.pid,
    processStarted: holder.startedAt,
    bootId: holder.bootId,
    startedMs: services.now(),
    pane,
  });
  setLease(services.db, worker.id, decision.lease);
  const subject = { projectId: project.id, workerId: worker.id, run: id, generation: decision.lease.generation };
  recordEvent(services, "run.claimed", subject, { pid: holder.pid, kind: params.kind });
  const run = requirePresent(runById(services.db, id), `run ${id}`);
  const address = formatAddress(project.slug, worker.name);
  const orders = spec && planLaunch(services, { address, worker, run, spec, fresh: params.fresh, probe });
  // A start whose conversation is yet to be minted may fail, and must not be repeated by the next one.
  if (spec && orders?.launch) storeLaunchSpec(services, worker, spec);
  setStartedBy(services.db, worker.id, starter === worker.id ? worker.startedBy : starter);
  const found = { project, worker, run, registered: known === null, replaced: decision.replaced, earlierRuns };
  return { ...found, ...commandOf(spec), ...(orders ?? NO_ORDERS) };
}

/** Returns the grant once more if this very claim (token, process and worker) was made before and its answer was lost. */
function repeatedClaim(
  services: LaunchServices,
  params: CallParams<"claim">,
  project: Project,
  worker: Worker,
): GrantedClaim | null {
  const run = runByToken(services.db, sha256(params.token));
  if (run === null) return null;
  const isCurrent = leaseStanding(worker.lease, run.id, run.generation) === "current";
  if (!isCurrent || run.workerId !== worker.id || run.pid !== params.pid) {
    throw new PerdureError("conflict", `The token of this claim was already used for ${run.id}.`, {
      hint: "claim with a new token",
    });
  }
  const spec = params.kind === "run" ? launchSpecOf(params, worker) : null;
  const address = formatAddress(project.slug, worker.name);
  const orders = spec ? repeatedOrder(services, { address, worker, run, spec }) : NO_ORDERS;
  return { project, worker, run, earlierRuns: [], registered: false, replaced: null, ...commandOf(spec), ...orders };
}

function agentClaim(
  services: LaunchServices,
  project: Project,
  name: string,
): Omit<Parameters<typeof assertAgentMayClaim>[0], "starter"> {
  const key = nameKey(name);
  return {
    address: formatAddress(project.slug, name),
    name,
    worker: workerByName(services.db, project.id, key),
    declared: declaredNameKeys(project.root).has(key),
  };
}

function mintEpoch(services: LaunchServices, project: Project, worker: Worker): number {
  const key = epochKey(services.host, project.slug, worker.name);
  const epoch = nextEpoch(services.now(), lastEpoch(services.db, key), readMeta(services.db, "epoch_floor") ?? 0);
  setEpoch(services.db, key, epoch);
  return epoch;
}

const NO_ORDERS: Orders = { launch: null, mint: null };

function commandOf(spec: LaunchSpec | null): { command: string[] | null; cwd: string | null } {
  return { command: spec?.command ?? null, cwd: spec?.cwd ?? null };
}

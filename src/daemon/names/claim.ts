import { lenientSettingsAt } from "../../project/config/lenient.ts";
import type { CallParams, Target } from "../../protocol/calls/index.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import { nameKey, formatAddress } from "../../protocol/names.ts";
import type { ClaimGrant } from "../../protocol/records/launch.ts";
import type { ProcessInfo } from "../../runtime/process/index.ts";
import { PENDING_PANE, runById } from "../../store/runs.ts";
import { boundConversation, type Conversation } from "../../store/conversations.ts";
import { workerById, workerByName, type Worker } from "../../store/workers.ts";
import { assertCurrent, type Actor } from "../permissions/actor.ts";
import { recordUnresumable } from "../events.ts";
import type { LaunchServices } from "../launch/services.ts";
import { repeatedOrder, type LaunchRequest, type Orders } from "../launch/orders.ts";
import { planLaunch } from "../launch/plan.ts";
import { probeBinding } from "../launch/probe-binding.ts";
import { probeStem } from "../launch/probe-stem.ts";
import { requireLaunchSpec, storeLaunchSpec, launchSpecOf, type LaunchSpec } from "../launch/spec.ts";
import { stemIdOf, StemChanged, type StemProbe } from "../launch/stem.ts";
import { projectOf } from "./lookup.ts";
import { recordHistory } from "./fingerprints.ts";
import { assertNotAmbiguous } from "./left-behind.ts";
import { takeLease, type Claimant, type GrantedLease } from "./lease.ts";
import { assertNotMoved } from "./moved.ts";
import { publishProjects } from "./projects-index.ts";
import { assertMayAccept, assertNotReplaced, assertSeen, assertSizes } from "./claim-refusals.ts";

interface Claimer {
  actor: Actor;
  /** Set when the daemon claims for a pane that it is about to make, or for a turn without a terminal. */
  startsIn?: "pane" | "turn";
}

/** Claims a name for a process: one change checks that no holder lives, raises the generation and records the run. */
export async function claim(
  services: LaunchServices,
  params: CallParams<"claim">,
  claimer: Claimer,
): Promise<ClaimGrant> {
  assertSizes(params);
  assertMayAccept(params, claimer.actor);
  assertSeen(services, params);
  const holder = services.processes.inspect(params.pid);
  if (holder === null) throw new PerdureError("usage", `There is no process ${params.pid} to claim a name for.`);
  const claimed = await claimInConversation(services, params, holder, claimer).catch((error: unknown) =>
    recordRefusal(services, params, error),
  );
  services.runs.claimed(claimed.run, claimed.replaced);
  if (claimed.registered) publishProjects(services);
  void recordHistory(services, claimed.project.id);
  const { project, worker, run } = claimed;
  return {
    address: formatAddress(project.slug, worker.name),
    uid: worker.uid,
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
    intercomScope: lenientSettingsAt(project.root).pi?.scope ?? null,
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
  { actor, startsIn }: Claimer,
): Promise<GrantedClaim> {
  await assertNotReplaced(services, params.target);
  if (!params.fresh) {
    const { name } = params.target;
    const anew = params.kind === "client" ? `claim(${JSON.stringify(name)}, { fresh: true })` : undefined;
    await assertNotMoved(services, params.target, name, anew);
    assertNotAmbiguous(services, params.target, params.cwd);
  }
  for (;;) {
    await endDeadHolder(services, params.target);
    await services.runs.fifos.refill();
    const probe = await probeBinding(
      services,
      params.kind === "run" ? boundConversationOf(services, params.target) : null,
      { resumes: !params.fresh },
    );
    const stem = params.kind === "run" && !params.fresh ? await probeStemOf(services, params.target) : null;
    const granting = services.writer
      .write(() => {
        // Checked inside the change, because a takeover may have been committed since the call came in.
        if (actor.kind === "worker") assertCurrent(services, actor.run.id, actor.run.generation);
        const starter = actor.kind === "worker" ? actor.run.workerId : null;
        return claimName(
          services,
          params,
          { holder, starter, pane: startsIn === "pane" ? PENDING_PANE : null, turn: startsIn === "turn" },
          { probe, stem },
        );
      })
      .catch((error: unknown) => {
        if (error instanceof BindingChanged || error instanceof StemChanged) return null;
        throw error;
      });
    const [claimed] = await Promise.all([granting, probe.copied]);
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

async function probeStemOf(services: LaunchServices, target: Target): Promise<StemProbe | null> {
  const worker = targetWorker(services, target);
  const stemId = worker && stemIdOf(worker, boundConversation(services.db, worker));
  return stemId === null ? null : probeStem(services, stemId);
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
      if (worker) recordUnresumable(services, worker, error.message);
    });
  }
  throw error;
}

/** The findings about the conversation of a start, and about the one that it branches. */
type Findings = Pick<LaunchRequest, "probe" | "stem">;

interface GrantedClaim extends GrantedLease, Orders {
  command: string[] | null;
  cwd: string | null;
}

/**
 * Claims the name inside a change, so that an error undoes everything, even the registration of the project: first the lease, which
 * knows nothing of programs, then the launch, which is of this machine alone.
 */
function claimName(
  services: LaunchServices,
  params: CallParams<"claim">,
  claimant: Claimant,
  found: Findings,
): GrantedClaim {
  const lease = takeLease(services, params, claimant);
  return { ...lease, ...planStart(services, lease, params, found) };
}

/** Plans the launch of a run that has its lease: decides by the findings of the probe, and stores the command for the next start. */
function planStart(
  services: LaunchServices,
  { project, worker, run, isRepeat }: GrantedLease,
  params: CallParams<"claim">,
  { probe, stem }: Findings,
): Omit<GrantedClaim, keyof GrantedLease> {
  const address = formatAddress(project.slug, worker.name);
  if (isRepeat) {
    const given = params.kind === "run" ? launchSpecOf(params, worker) : null;
    const again = given ? repeatedOrder(services, { address, worker, run, spec: given }) : NO_ORDERS;
    return { ...commandOf(given), ...again };
  }
  const spec = params.kind === "run" ? requireLaunchSpec(params, worker) : null;
  // Read again, because recording the end of the last run may have changed the binding.
  if (spec && workerById(services.db, worker.id)?.conversationId !== probe.conversationId) throw new BindingChanged();
  const { fresh, accept = false } = params;
  const orders = spec && planLaunch(services, { address, worker, run, spec, fresh, accept, probe, stem });
  // A start whose conversation is yet to be minted may fail, and must not be repeated by the next one.
  if (spec && orders?.launch) storeLaunchSpec(services, worker, spec);
  // Last, because a refusal would leave the folder behind; a run of an older claimer, which would not hold it, has no fifo.
  if (run.namespace !== null) services.runs.fifos.placeIn(services.runs.runDir(run.id));
  return { ...commandOf(spec), ...(orders ?? NO_ORDERS) };
}

const NO_ORDERS: Orders = { launch: null, mint: null };

function commandOf(spec: LaunchSpec | null): { command: string[] | null; cwd: string | null } {
  return { command: spec?.command ?? null, cwd: spec?.cwd ?? null };
}

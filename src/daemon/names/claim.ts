import { nextEpoch } from "../../core/epoch.ts";
import { claim, standing } from "../../core/lease.ts";
import { EARLIER_RUNS_TOLD } from "../../limits/index.ts";
import type { CallParams, Target } from "../../protocol/calls/index.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import { nameKey } from "../../protocol/names.ts";
import type { ClaimGrant } from "../../protocol/records/launch.ts";
import { sha256 } from "../../util/sha256.ts";
import { epochKey, formatRunId } from "../../protocol/run-id.ts";
import type { ProcessInfo } from "../../runtime/process/index.ts";
import { lastEpoch, setEpoch } from "../../store/epochs.ts";
import { readMeta } from "../../store/meta.ts";
import type { ProjectRow } from "../../store/projects.ts";
import { insertRun, PENDING_PANE, runById, runByToken, runsOfWorker, type RunRow } from "../../store/runs.ts";
import { sessionById, type SessionRow } from "../../store/conversations.ts";
import {
  leaseOf,
  setLease,
  setSupervisor,
  setUnresumable,
  workerById,
  workerByName,
  type WorkerRow,
} from "../../store/workers.ts";
import { assertCurrent } from "../permissions/actor.ts";
import { record, type House } from "../services.ts";
import { orderOfRun, outlookOf, planLaunch, type Orders, type Outlook } from "../launch/plan.ts";
import { mustWant, storeWanted, wantedOf, type Wanted } from "../launch/spec.ts";
import { projectOf, registerProject } from "./lookup.ts";
import { publishProjects } from "./projects-index.ts";
import { findOrCreate } from "./workers.ts";
import { checkSizes, heldError } from "./claim-refusals.ts";
import type { CallContext } from "../calls/context.ts";

type Claimer = Pick<CallContext, "house" | "actor" | "holdWhileConnected"> & {
  /** The daemon claims for a pane that it is about to make. */
  forPane?: true;
};

/** Claims a name for a process. One transaction: a holder that is dead or none, a generation more, a run recorded. */
export async function claimCall(params: CallParams<"claim">, context: Claimer): Promise<ClaimGrant> {
  const { house } = context;
  checkSizes(params);
  const holder = house.processes.look(params.pid);
  if (holder === null) throw new PerdureError("usage", `There is no process ${params.pid} to claim a name for.`);
  const claimed = await claimInConversation(context, params, holder).catch((error: unknown) =>
    noteRefusal(house, params, error),
  );
  if (claimed.replaced) house.watch.forget(claimed.replaced);
  house.watch.track(claimed.run);
  house.sessions.follow(claimed.run);
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
    launch: claimed.launch,
    mint: claimed.mint,
    earlierRuns: claimed.earlierRuns,
    runDir: house.watch.runDir(run.id),
    wrapper: house.wrapper(),
    socket: house.paths.socket,
  };
}

/**
 * The conversation is looked at first, because that takes time; the change then decides by what was seen. If the worker
 * came to another conversation in between, it is looked at again.
 */
async function claimInConversation(
  { house, actor, forPane }: Claimer,
  params: CallParams<"claim">,
  holder: ProcessInfo,
): Promise<Claimed> {
  for (;;) {
    await endDeadHolder(house, params.target);
    const outlook = await outlookOf(house, params.kind === "run" ? boundSession(house, params.target) : null);
    const claimed = await house.writer
      .write(() => {
        // Here and not before: a takeover may have been committed since the call came in.
        if (actor.kind === "worker") assertCurrent(house, actor.run.id, actor.run.generation);
        const starter = actor.kind === "worker" ? actor.run.worker_id : null;
        return claimName(house, params, holder, outlook, starter, forPane ? PENDING_PANE : null);
      })
      .catch((error: unknown) => {
        if (error instanceof OutlookChanged) return null;
        throw error;
      });
    if (claimed) return claimed;
  }
}

/**
 * What its last run said before it died may have led to another conversation: that is the one to look at. And a pane that
 * was to start it, and is late, must find nothing.
 */
async function endDeadHolder(house: House, target: Target): Promise<void> {
  const holder = workerOf(house, target)?.holder_run ?? null;
  const run = holder === null ? null : runById(house.db, holder);
  if (run?.kind === "run" && house.watch.processesOf(run).length === 0) await house.watch.end(run, "replaced");
}

class OutlookChanged extends Error {}

function boundSession(house: House, target: Target): SessionRow | null {
  const worker = workerOf(house, target);
  return worker?.session_id == null ? null : sessionById(house.db, worker.session_id);
}

function workerOf(house: House, target: Target): WorkerRow | null {
  const project = projectOf(house, target);
  return project && workerByName(house.db, project.id, nameKey(target.name));
}

/** What stands in the way of coming back is shown by `ls` until a start succeeds. */
async function noteRefusal(house: House, params: CallParams<"claim">, error: unknown): Promise<never> {
  if (isPerdureError(error) && error.details?.unresumable === true) {
    await house.writer.write(() => {
      const worker = workerOf(house, params.target);
      if (worker) setUnresumable(house.db, worker.id, error.message);
    });
  }
  throw error;
}

interface Claimed extends Orders {
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
function claimName(
  house: House,
  params: CallParams<"claim">,
  holder: ProcessInfo,
  outlook: Outlook,
  starter: number | null,
  pane: string | null,
): Claimed {
  const known = projectOf(house, params.target);
  const project = known ?? registerProject(house, params.target.here);
  const worker = findOrCreate(house, project, params.target.name, params.ephemeral);
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

  const wanted = params.kind === "run" ? mustWant(params, worker) : null;
  // Read again: the end of the last run, just above, may have moved it.
  if (wanted && workerById(house.db, worker.id)?.session_id !== outlook.session) throw new OutlookChanged();
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
    pane,
  });
  setLease(house.db, worker.id, decision.lease);
  const subject = { projectId: project.id, workerId: worker.id, run: id, generation: decision.lease.generation };
  record(house, "run.claimed", subject, { pid: holder.pid, kind: params.kind });
  const run = runById(house.db, id);
  if (run === null) throw new Error(`run ${id} vanished in its own transaction`);
  const address = `${project.slug}/${worker.name}`;
  const orders = wanted && planLaunch(house, { address, worker, run, wanted, fresh: params.fresh, outlook });
  // What has yet to be minted may fail, and must not be what the next start runs.
  if (wanted && orders?.launch) storeWanted(house, worker, wanted);
  setSupervisor(house.db, worker.id, starter === worker.id ? worker.supervisor_id : starter);
  const found = { project, worker, run, registered: known === null, replaced: decision.replaced, earlierRuns };
  return { ...found, ...commandOf(wanted), ...(orders ?? NO_ORDERS) };
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
  const wanted = params.kind === "run" ? wantedOf(params, worker) : null;
  const address = `${project.slug}/${worker.name}`;
  const orders = wanted ? orderOfRun(house, { address, worker, run, wanted }) : NO_ORDERS;
  return { project, worker, run, earlierRuns: [], registered: false, replaced: null, ...commandOf(wanted), ...orders };
}

function mintEpoch(house: House, project: ProjectRow, worker: WorkerRow): number {
  const key = epochKey(house.host, project.slug, worker.name);
  const epoch = nextEpoch(house.now(), lastEpoch(house.db, key), readMeta(house.db, "epoch_floor") ?? 0);
  setEpoch(house.db, key, epoch);
  return epoch;
}

const NO_ORDERS: Orders = { launch: null, mint: null };

function commandOf(wanted: Wanted | null): { command: string[] | null; cwd: string | null } {
  return { command: wanted?.command ?? null, cwd: wanted?.cwd ?? null };
}

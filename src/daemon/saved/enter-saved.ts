import type { CallParams } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { hinted, hintOf, hintText, toHint, verb, type HintLike } from "../../protocol/hint.ts";
import { checkName, nameKey, formatAddress } from "../../protocol/names.ts";
import type { Project } from "../../store/projects.ts";
import {
  activeSaved,
  savedByName,
  savedOfProject,
  conversationsOfSaved,
  setActiveSaved,
  setSavedConversation,
  touchSaved,
  type SavedSession,
} from "../../store/saved.ts";
import { conversationById } from "../../store/conversations.ts";
import { workerById, type Worker } from "../../store/workers.ts";
import { drillWorker } from "../launch/drill.ts";
import { recordEvent } from "../events.ts";
import type { FleetServices } from "../fleet/services.ts";
import { bindWorker } from "../conversations/binding/bindings.ts";
import type { FleetMember } from "../fleet/members.ts";
import { findOrCreateSaved, unknownSavedError } from "./saved.ts";

type SavedChoice = Pick<CallParams<"up">, "session" | "resume" | "allowFresh">;

interface Fault {
  name: string;
  reason: string;
  hint: HintLike;
  /** The worker runs, so it cannot begin a new conversation now. */
  running: boolean;
}

/**
 * Puts the fleet into the saved session that was asked for: every worker goes to its conversation there, or nothing changes.
 * Returns the workers that are to begin a new conversation.
 */
export async function enterSaved(
  services: FleetServices,
  project: Project,
  members: readonly FleetMember[],
  choice: SavedChoice,
): Promise<Set<number>> {
  const none = new Set<number>();
  if (choice.session === null && choice.resume === null) return none;
  const known = savedByName(services.db, project.id, nameKey(choice.resume ?? choice.session ?? ""));
  if (choice.resume !== null && known === null) {
    throw unknownSavedError(choice.resume, savedOfProject(services.db, project.id));
  }
  const active = activeSaved(services.db, project.id);
  if (known === null) return beginSaved(services, project, members, choice.session ?? "", active);
  return resumeSaved(services, project, members, known, choice);
}

/**
 * Makes a new saved session. It takes the current conversations, unless another saved session is active: then every worker
 * begins a new one, so that work in one session does not change the other.
 */
async function beginSaved(
  services: FleetServices,
  project: Project,
  members: readonly FleetMember[],
  rawName: string,
  active: SavedSession | null,
): Promise<Set<number>> {
  const name = checkName(rawName, "name for a saved session");
  const freshWorkers = active === null ? [] : members.map(({ worker }) => worker);
  assertNoneRuns(services, freshWorkers, name);
  await services.writer.write(() => {
    const saved = findOrCreateSaved(services, project, name);
    if (active === null) {
      for (const { worker } of members)
        if (worker.conversationId !== null)
          setSavedConversation(services.db, saved.id, worker.id, worker.conversationId);
    }
    activateSaved(services, project, saved);
  });
  return new Set(freshWorkers.map(({ id }) => id));
}

async function resumeSaved(
  services: FleetServices,
  project: Project,
  members: readonly FleetMember[],
  saved: SavedSession,
  { allowFresh, resume }: SavedChoice,
): Promise<Set<number>> {
  const savedConversations = new Map(
    conversationsOfSaved(services.db, saved.id).map((row) => [row.workerId, row.conversationId]),
  );
  const allowedFresh = new Set(allowFresh.map(nameKey));
  const freshWorkers = new Set<number>();
  const faults: Fault[] = [];
  for (const member of members) {
    const { worker } = member;
    const fault = await faultOf(services, project, member, savedConversations.get(worker.id) ?? null, saved);
    if (fault === null) continue;
    // A worker without a conversation in the saved session is a fault only with --resume, which asks for exactly these.
    const allowed = allowedFresh.has(worker.nameKey) || (resume === null && !savedConversations.has(worker.id));
    if (allowed && !isRunning(services, worker)) freshWorkers.add(worker.id);
    else faults.push(fault);
  }
  if (faults.length > 0) throw restoreRefusal(saved, faults, supervisedNames(services, members));
  await services.writer.write(() => {
    // Activated first, so that the bindings below go to this saved session and not to the one before.
    activateSaved(services, project, saved);
    for (const { worker } of members) {
      const conversationId = savedConversations.get(worker.id);
      if (conversationId === undefined || freshWorkers.has(worker.id) || worker.conversationId === conversationId)
        continue;
      if (isRunning(services, worker)) throw startedMeanwhileError(worker);
      bindWorker(services, worker, conversationId);
    }
  });
  return freshWorkers;
}

async function faultOf(
  services: FleetServices,
  project: Project,
  { worker, entry }: FleetMember,
  conversationId: number | null,
  { name }: SavedSession,
): Promise<Fault | null> {
  const running = isRunning(services, worker);
  const fault = (reason: string, hint: HintLike): Fault => ({ name: worker.name, reason, hint, running });
  // A program without conversations has none to return to.
  if (entry.vendor === null && conversationId === null) return null;
  if (conversationId === null) return fault(`it has no conversation in ${name}`, `--allow-fresh ${worker.name}`);
  if (running) {
    return worker.conversationId === conversationId
      ? null
      : fault("it is running in another conversation", verb("stop", worker.name));
  }
  if (conversationById(services.db, conversationId)?.vendor !== (entry.vendor?.name ?? null)) {
    return fault(`its conversation in ${name} belongs to another vendor`, `--allow-fresh ${worker.name}`);
  }
  const { command, cwd } = entry;
  const asIfStopped = { ...worker, conversationId, command, cwd };
  const { environment, own } = services.environments.forStart(worker, entry);
  const variables = { ...environment, ...own };
  const address = formatAddress(project.slug, worker.name);
  const { ok, reason, next } = await drillWorker(services, address, asIfStopped, variables);
  return ok ? null : fault(reason ?? "it cannot be resumed", next ?? verb("drill"));
}

function isRunning(services: FleetServices, { id }: Worker): boolean {
  return services.fleet.liveRun(id) !== null;
}

function assertNoneRuns(services: FleetServices, workers: readonly Worker[], name: string): void {
  const running = workers.filter((worker) => isRunning(services, worker)).map((worker) => worker.name);
  if (running.length === 0) return;
  throw new PerdureError("refused", `Already running in another saved session than ${name}: ${running.join(", ")}.`, {
    hint: hintOf`${verb("down")}, then try again`,
  });
}

/** Makes the saved session the active one, inside a change; it follows the workers from now on. */
function activateSaved(services: FleetServices, project: Project, saved: SavedSession): void {
  touchSaved(services.db, saved.id, services.now());
  setActiveSaved(services.db, project.id, saved.id);
  recordEvent(services, "saved.entered", { projectId: project.id }, { name: saved.name });
}

function startedMeanwhileError({ name }: Worker): PerdureError {
  return new PerdureError("conflict", `${name} was started meanwhile, in another conversation.`, {
    hint: hintOf`${verb("stop", name)}, then try again`,
  });
}

/** Returns the members that were brought up before: supervision goes on starting those, whatever becomes of this call. */
function supervisedNames(services: FleetServices, members: readonly FleetMember[]): string[] {
  return members.flatMap(({ worker }) => (workerById(services.db, worker.id)?.desired === true ? [worker.name] : []));
}

function restoreRefusal({ name }: SavedSession, faults: Fault[], supervised: string[]): PerdureError {
  const lines = faults.map((fault) => `  ${fault.name}: ${fault.reason}  (${hintText(toHint(fault.hint))})`);
  const still =
    supervised.length === 0
      ? "nothing was started"
      : `this command started nothing; already up, and supervised as before: ${supervised.join(", ")}`;
  const fresh = faults.find(({ running }) => !running);
  const again = verb("up", "--resume", name);
  const start = fresh
    ? hintOf`; or begin a new conversation for one: ${verb("up", "--resume", name, "--allow-fresh", fresh.name)}`
    : "";
  return new PerdureError("refused", [`${name} cannot be restored completely; ${still}.`, ...lines].join("\n"), {
    hint: hintOf`do what stands behind each worker above, then: ${again}${start}`,
    details: { faults: faults.map(({ name: worker, reason, hint }) => ({ name: worker, reason, ...hinted(hint) })) },
  });
}

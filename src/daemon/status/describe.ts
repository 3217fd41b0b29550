import type { RunRecord, TurnRecord } from "../../protocol/records/run.ts";
import { formatAddress } from "../../protocol/names.ts";
import type { WorkerState, WorkerSummary } from "../../protocol/records/worker.ts";
import type { BlockedReason, Proved, SessionRecord } from "../../protocol/records/conversation.ts";
import type { ProcessInfo } from "../../runtime/process/index.ts";
import { windowIndexOf } from "../../store/fleet.ts";
import { custodyOf } from "../../store/custody.ts";
import { countUnanswered } from "../../store/messages.ts";
import type { Project } from "../../store/projects.ts";
import { holderOf, runsOfWorker, type Run } from "../../store/runs.ts";
import {
  lastEntryOfConversation,
  lastEntryOfRun,
  conversationById,
  entriesOfRun,
  type Conversation,
  boundConversation,
} from "../../store/conversations.ts";
import { lastTurnOf as lastTurn, turnOfRun, type Turn } from "../../store/turns.ts";
import { isTurnWorker, type Worker } from "../../store/workers.ts";
import { adapterOf } from "../../vendors/index.ts";
import { iso } from "../../util/iso.ts";
import { shownActivity } from "../conversations/attention/attention.ts";
import { provedOf } from "../conversations/binding/bindings.ts";
import { isHeadless } from "../conversations/proof/proof.ts";
import { isSuspended } from "../conversations/follow/suspended.ts";
import { isOnlyRecorded, placeOf } from "../runs/elsewhere.ts";
import type { StatusServices } from "./services.ts";

export interface DescribedWorker {
  summary: WorkerSummary;
  processes: ProcessInfo[];
}

/** Describes a worker as it is now: the store's record, corrected by the state of its processes. */
export function describeWorker(services: StatusServices, project: Project, worker: Worker): DescribedWorker {
  const run = holderOf(services.db, worker);
  const processes = run ? services.runs.processesOf(run) : [];
  const live = processes.length > 0 ? run : null;
  const folder = boundConversation(services.db, worker)?.launchCwd ?? worker.cwd;
  const window = live?.pane == null ? null : windowIndexOf(services.db, worker.id);
  const summary: WorkerSummary = {
    address: formatAddress(project.slug, worker.name),
    uid: worker.uid,
    project: project.slug,
    projectUid: project.uid,
    name: worker.name,
    vendor: worker.vendor,
    ...(worker.fleet?.about && { about: worker.fleet.about }),
    unproved: worker.vendor === null ? null : (adapterOf(worker.vendor)?.unproved ?? null),
    mode: modeOf(worker, run),
    state: stateOf(services, worker, live, processes),
    generation: worker.lease.generation,
    run: live && { id: live.id, pid: processes[0]?.pid ?? live.pid, startedAt: iso(live.startedMs) },
    session: conversationSummary(services, worker, live),
    unread: services.db.mailboxCounters.count(worker.projectId, worker.id).messages,
    unanswered: countUnanswered(services.db, worker.id),
    restarts: worker.restarts,
    attention: live ? attentionOf(services, live, processes) : attentionWithoutRun(services, worker),
    ...(live === null && worker.unresumable === null && worker.onHold?.next && { next: worker.onHold.next }),
    ...(window !== null && { window }),
    ...(folder !== null && { folder }),
    lastEnd: live ? null : lastEndOf(services, worker),
    ...lastTurnOf(services, worker),
  };
  return { summary, processes };
}

function modeOf(worker: Worker, run: Run | null): WorkerSummary["mode"] {
  if (run?.kind === "client") return "client";
  if (run === null ? isTurnWorker(worker) : run.turn === 1) return "turn";
  const { desired } = worker;
  const inPane = run === null ? desired : run.pane !== null;
  return inPane ? "tmux" : "foreground";
}

function attentionWithoutRun({ turns }: StatusServices, worker: Worker): string | null {
  return worker.unresumable ?? worker.onHold?.reason ?? turns.heldReasonOf(worker.id);
}

/** Describes the last turn of a worker of turns. */
function lastTurnOf({ db, mail }: StatusServices, worker: Worker): Pick<WorkerSummary, "lastTurn"> {
  const turn = worker.fleet?.mode === "turn" ? lastTurn(db, worker.id) : null;
  return turn === null ? {} : { lastTurn: describeTurn(turn, mail.now()) };
}

function describeTurn({ ask, startedMs, endedMs, outcome, reason }: Turn, nowMs: number): TurnRecord {
  const ms = Math.max(0, (endedMs ?? nowMs) - startedMs);
  return { ask, startedAt: iso(startedMs), ms, outcome, reason };
}

function lastEndOf(services: StatusServices, worker: Worker): WorkerSummary["lastEnd"] {
  const [last] = runsOfWorker(services.db, worker.id, 1);
  if (last?.endedMs == null) return null;
  return { reason: last.reason ?? "ended", exit: last.exit, at: iso(last.endedMs) };
}

function stateOf(services: StatusServices, worker: Worker, live: Run | null, processes: ProcessInfo[]): WorkerState {
  if (live === null && worker.unresumable !== null) return "unresumable";
  if (live === null)
    return services.fleet.stateOf(worker.id) ?? worker.onHold?.state ?? stateWithoutRun(services, worker);
  if (worker.lease.phase === "displacing") return "displaced";
  // Only an adapter can tell what a program does, and of what a wrapper has left behind nobody can.
  const wrapperGone = processes.every(({ pid }) => pid !== live.pid);
  const isElsewhere = processes.some((each) => isOnlyRecorded(services.processes, each));
  if (live.kind === "client" || wrapperGone || isElsewhere) return "running";
  if (!services.runs.hasStarted(live)) return "starting";
  if (live.turn === 1) return "turning";
  const shown = shownActivity(services.conversations.activityOf(live.id), isHeadless(worker, live));
  return shown === "idle" && services.couriers.heldReasonOf(live.id) !== null ? "on-hold" : shown;
}

function stateWithoutRun({ turns }: StatusServices, worker: Worker): WorkerState {
  if (worker.paused) return "paused";
  if (turns.heldReasonOf(worker.id) !== null) return "on-hold";
  return isTurnWorker(worker) ? "asleep" : "stopped";
}

function conversationSummary(services: StatusServices, worker: Worker, live: Run | null): WorkerSummary["session"] {
  const conversation = boundConversation(services.db, worker);
  if (conversation === null) return null;
  return {
    id: conversation.vendorId,
    provenance: conversation.provenance,
    proved: provedNow(services, conversation, live),
    name: conversation.name,
  };
}

/** Returns the proof on record, unless the run's agent has shown since, or may have, that it is elsewhere, and the disk was full. */
function provedNow(services: StatusServices, { id }: Conversation, run: Run | null): Proved {
  const proof = lastEntryOfConversation(services.db, id);
  if (run !== null && run.id === proof?.runId && unrecordedMove(services, run) !== null) return "pending";
  return proof ? provedOf(proof) : "pending";
}

/** Says, for people, that the agent is, or may be, in another conversation than the one on record; null if nothing speaks for it. */
function unrecordedMove({ conversations }: StatusServices, run: Run): string | null {
  const moved = conversations.unwrittenMoveOf(run.id);
  if (moved !== null) return `moved to ${moved}, which is not recorded yet: the disk is full`;
  if (conversations.isDoubtful(run.id)) return "its conversation is unknown: a hook could not write, the disk is full";
  return null;
}

function attentionOf(services: StatusServices, run: Run, processes: ProcessInfo[]): string | null {
  if (processes.some((each) => isOnlyRecorded(services.processes, each)))
    return `in ${placeOf(run)}; takeover frees the name`;
  const entry = lastEntryOfRun(services.db, run.id);
  if (entry?.proved === "false") return `wrong conversation: ${entry.evidence}`;
  const unrecorded = unrecordedMove(services, run);
  if (unrecorded !== null) return unrecorded;
  const foreignConversation = services.conversations.foreignConversationOf(run.id);
  if (foreignConversation !== null) return `in another worker's conversation: ${foreignConversation}`;
  const openers = services.conversations.foreignOpenersOf(run.id);
  if (openers.length > 0) return `its conversation is also open in pid ${openers.join(", ")}`;
  const unsaved = services.conversations.unrecordedOf(run.id);
  if (unsaved !== null) return unsaved;
  if (isSuspended(services, run, processes)) return "suspended";
  const hungMs = services.conversations.hungMsOf(run.id);
  if (hungMs !== null) return `busy for ${duration(hungMs)} without a sign`;
  if (processes.every(({ pid }) => pid !== run.pid))
    return `wrapper gone, ${processes.map(({ command }) => command).join(", ")} still runs`;
  const reason = services.conversations.reasonOf(run.id);
  if (reason === null) return services.couriers.heldReasonOf(run.id);
  return services.conversations.wordsOf(run.id) ?? WAITS_FOR[reason];
}

const WAITS_FOR: Readonly<Record<BlockedReason, string>> = {
  permission: "asks for permission",
  question: "asks a question",
  trust: "asks whether to trust the folder",
  login: "asks for a login",
  limit: "has used up its limit",
};
function duration(ms: number): string {
  return ms < 60_000 ? `${Math.floor(ms / 1000)} s` : `${Math.floor(ms / 60_000)} min`;
}

export function describeRun(services: StatusServices, run: Run): RunRecord {
  const turn = run.turn === 1 ? turnOfRun(services.db, run.id) : null;
  const sessions = entriesOfRun(services.db, run.id).map((entry) => ({
    id: entry.vendorId,
    began: entry.began,
    at: iso(entry.atMs),
    proved: provedOf(entry),
    evidence: entry.evidence,
    provedAt: entry.provedMs === null ? null : iso(entry.provedMs),
  }));
  return {
    id: run.id,
    generation: run.generation,
    startedAt: iso(run.startedMs),
    endedAt: run.endedMs === null ? null : iso(run.endedMs),
    exit: run.exit,
    reason: run.reason,
    sessionId: sessions.at(-1)?.id ?? null,
    sessions,
    pid: run.pid,
    displacedBy: run.displacedBy,
    ...(turn !== null && { turn: describeTurn(turn, services.mail.now()) }),
  };
}

export function describeConversation(
  services: StatusServices,
  worker: Worker,
  conversation: Conversation,
): SessionRecord {
  const proof = lastEntryOfConversation(services.db, conversation.id);
  const current = worker.conversationId === conversation.id;
  const from = conversation.rotatedFrom === null ? null : conversationById(services.db, conversation.rotatedFrom);
  const stem = conversation.forkedFrom === null ? null : conversationById(services.db, conversation.forkedFrom);
  const kept = custodyOf(services.db, conversation.id);
  return {
    id: conversation.vendorId,
    vendor: conversation.vendor,
    provenance: conversation.provenance,
    rotatedFrom: from?.vendorId ?? null,
    forkedFrom: stem?.vendorId ?? null,
    launchCwd: conversation.launchCwd,
    configDir: conversation.configDir,
    proved: provedNow(services, conversation, current ? holderOf(services.db, worker) : null),
    evidence: proof?.evidence ?? null,
    custody: kept && { bytes: kept.wholeBytes, sha256: kept.sha256, at: iso(kept.keptMs) },
    restored: conversation.restored,
    current,
    version: conversation.version,
    name: conversation.name,
    transcript:
      conversation.transcript === null
        ? null
        : { file: conversation.transcript, bytes: conversation.transcriptBytes ?? 0 },
    createdAt: iso(conversation.createdMs),
  };
}

import type { RunRecord } from "../../protocol/records/run.ts";
import type { SessionRecord, BlockedReason } from "../../protocol/records/conversation.ts";
import type { WorkerState, WorkerSummary } from "../../protocol/records/worker.ts";
import type { ProcessInfo } from "../../runtime/process/index.ts";
import { custodyOf } from "../../store/custody.ts";
import { heldOf } from "../../store/fleet.ts";
import type { ProjectRow } from "../../store/projects.ts";
import { runById, runsOfWorker, type RunRow } from "../../store/runs.ts";
import {
  lastProofOfSession,
  lastSessionOfRun,
  sessionById,
  sessionsOfRun,
  type SessionRow,
} from "../../store/conversations.ts";
import type { WorkerRow } from "../../store/workers.ts";
import { adapterOf } from "../../vendors/index.ts";
import type { House } from "../services.ts";
import { provedOf } from "../conversations/bindings.ts";
import { isSuspended } from "../runs/suspended.ts";

export interface Described {
  summary: WorkerSummary;
  processes: ProcessInfo[];
}

/** A worker as it is right now: what the store says, corrected by a look at its processes. */
export function describeWorker(house: House, project: ProjectRow, worker: WorkerRow): Described {
  const run = worker.holder_run === null ? null : runById(house.db, worker.holder_run);
  const processes = run ? house.watch.processesOf(run) : [];
  const live = processes.length > 0 ? run : null;
  const summary: WorkerSummary = {
    address: `${project.slug}/${worker.name}`,
    project: project.slug,
    name: worker.name,
    vendor: worker.vendor,
    unproved: worker.vendor === null ? null : (adapterOf(worker.vendor)?.unproved ?? null),
    mode: modeOf(worker, run),
    state: stateOf(house, worker, live, processes),
    generation: worker.generation,
    run: live && { id: live.id, pid: processes[0]?.pid ?? live.pid, startedAt: iso(live.started_ms) },
    session: summaryOf(house, worker),
    unread: house.db.boxes.count(worker.project_id, worker.id).messages,
    restarts: worker.restarts,
    attention: live ? attentionOf(house, live, processes) : (worker.unresumable ?? heldOf(worker)?.reason ?? null),
    lastEnd: live ? null : lastEndOf(house, worker),
  };
  return { summary, processes };
}

function modeOf({ desired }: WorkerRow, run: RunRow | null): WorkerSummary["mode"] {
  if (run?.kind === "client") return "client";
  const inPane = run === null ? desired === 1 : run.pane !== null;
  return inPane ? "tmux" : "foreground";
}

function lastEndOf(house: House, worker: WorkerRow): WorkerSummary["lastEnd"] {
  const [last] = runsOfWorker(house.db, worker.id, 1);
  if (last?.ended_ms == null) return null;
  return { reason: last.reason ?? "ended", exit: last.exit, at: iso(last.ended_ms) };
}

function stateOf(house: House, worker: WorkerRow, live: RunRow | null, processes: ProcessInfo[]): WorkerState {
  if (live === null && worker.unresumable !== null) return "unresumable";
  if (live === null)
    return house.fleet.stateOf(worker.id) ?? heldOf(worker)?.state ?? (worker.paused === 1 ? "paused" : "stopped");
  if (worker.lease_phase === "displacing") return "displaced";
  // A program without an adapter runs; whether it waits for somebody, only an adapter could tell.
  const survivors = processes.every(({ pid }) => pid !== live.pid);
  if (live.kind === "client" || survivors) return "busy";
  return house.watch.hasStarted(live) ? (house.sessions.activityOf(live.id) ?? "busy") : "starting";
}

function summaryOf(house: House, worker: WorkerRow): WorkerSummary["session"] {
  const session = worker.session_id === null ? null : sessionById(house.db, worker.session_id);
  if (session === null) return null;
  const proof = lastProofOfSession(house.db, session.id);
  return { id: session.vendor_id, provenance: session.provenance, proved: proof ? provedOf(proof) : "pending" };
}

function attentionOf(house: House, run: RunRow, processes: ProcessInfo[]): string | null {
  const entry = lastSessionOfRun(house.db, run.id);
  if (entry?.proved === "false") return `wrong conversation: ${entry.evidence}`;
  const foreign = house.sessions.foreignOf(run.id);
  if (foreign !== null) return `in another worker's conversation: ${foreign}`;
  const strangers = house.sessions.strangersOf(run.id);
  if (strangers.length > 0) return `its conversation is also open in pid ${strangers.join(", ")}`;
  if (isSuspended(house, run, processes)) return "suspended";
  const hungMs = house.sessions.hungMsOf(run.id);
  if (hungMs !== null) return `busy for ${duration(hungMs)} without a sign`;
  if (processes.every(({ pid }) => pid !== run.pid))
    return `wrapper gone, ${processes.map(({ command }) => command).join(", ")} lives on`;
  const reason = house.sessions.reasonOf(run.id);
  return reason && WAITS_FOR[reason];
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

export function describeRun(house: House, run: RunRow): RunRecord {
  const sessions = sessionsOfRun(house.db, run.id).map((entry) => ({
    id: entry.vendor_id,
    began: entry.began,
    at: iso(entry.at_ms),
    proved: provedOf(entry),
    evidence: entry.evidence,
    provedAt: entry.proved_ms === null ? null : iso(entry.proved_ms),
  }));
  return {
    id: run.id,
    generation: run.generation,
    startedAt: iso(run.started_ms),
    endedAt: run.ended_ms === null ? null : iso(run.ended_ms),
    exit: run.exit,
    reason: run.reason,
    sessionId: sessions.at(-1)?.id ?? null,
    sessions,
    pid: run.pid,
    displacedBy: run.displaced_by,
  };
}

export function describeSession(house: House, worker: WorkerRow, session: SessionRow): SessionRecord {
  const proof = lastProofOfSession(house.db, session.id);
  const from = session.rotated_from === null ? null : sessionById(house.db, session.rotated_from);
  const stem = session.forked_from === null ? null : sessionById(house.db, session.forked_from);
  const kept = custodyOf(house.db, session.id);
  return {
    id: session.vendor_id,
    vendor: session.vendor,
    provenance: session.provenance,
    rotatedFrom: from?.vendor_id ?? null,
    forkedFrom: stem?.vendor_id ?? null,
    launchCwd: session.launch_cwd,
    configDir: session.config_dir,
    proved: proof ? provedOf(proof) : "pending",
    evidence: proof?.evidence ?? null,
    custody: kept && { bytes: kept.bytes, sha256: kept.sha256, at: iso(kept.kept_ms) },
    current: worker.session_id === session.id,
    version: session.version,
    transcript: session.transcript === null ? null : { file: session.transcript, bytes: session.transcript_bytes ?? 0 },
    createdAt: iso(session.created_ms),
  };
}

export function iso(ms: number): string {
  return new Date(ms).toISOString();
}

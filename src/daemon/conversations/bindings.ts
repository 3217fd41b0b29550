import { standing } from "../../core/lease.ts";
import { observe } from "../../core/proof.ts";
import { PerdureError } from "../../protocol/errors.ts";
import {
  isSessionId,
  type GoodTranscript,
  type Proved,
  type Provenance,
  type Sign,
  type Variables,
} from "../../protocol/records/conversation.ts";
import { runById, type RunRow } from "../../store/runs.ts";
import {
  bindSession,
  enterSession,
  insertSession,
  lastSessionOfRun,
  sessionById,
  sessionInUse,
  sessionOfRun,
  setPlace,
  setPrompted,
  setProof,
  setTranscript,
  type RunSessionRow,
  type SessionRow,
} from "../../store/conversations.ts";
import { activeSaved, setSavedSession, touchSaved } from "../../store/saved.ts";
import { leaseOf, setForkOf, workerById, type WorkerRow } from "../../store/workers.ts";
import { record, type House } from "../services.ts";

// What happens to a worker's conversations. Everything here runs inside a change.

type Store = Pick<House, "db" | "now">;
type Machine = Pick<House, "db" | "processes">;

export interface NewConversation {
  vendor: string;
  vendorId: string;
  configDir: string;
  variables: Variables;
  launchCwd: string;
  provenance: Provenance;
  /** The session it begins as a branch of. */
  forkedFrom?: number | null;
}

/** The worker is in this conversation from now on; the one before it stays in its lineage. */
export function bindNew(house: Store, worker: WorkerRow, run: RunRow | null, fresh: NewConversation): SessionRow {
  assertNobodys(house, worker, fresh);
  const id = insertSession(house.db, {
    worker_id: worker.id,
    vendor: fresh.vendor,
    vendor_id: fresh.vendorId,
    config_dir: fresh.configDir,
    config_variables: JSON.stringify(fresh.variables),
    launch_cwd: fresh.launchCwd,
    provenance: fresh.provenance,
    rotated_from: worker.session_id,
    forked_from: fresh.forkedFrom ?? null,
    created_ms: house.now(),
  });
  bind(house, worker, id);
  if (worker.fork_of !== null) setForkOf(house.db, worker.id, null);
  const { vendor, vendorId, provenance } = fresh;
  record(house, "session.bound", subjectOf(worker, run), { session: vendorId, vendor, provenance });
  return mustBe(sessionById(house.db, id));
}

/** The worker is in this conversation, and so it is in the saved session that follows it. */
export function bind(house: Store, worker: WorkerRow, sessionId: number): void {
  bindSession(house.db, worker.id, sessionId);
  const active = activeSaved(house.db, worker.project_id);
  if (active === null) return;
  setSavedSession(house.db, active.id, worker.id, sessionId);
  touchSaved(house.db, active.id, house.now());
}

/** The worker goes on with a program that has none; its lineage stays. */
export function leaveSession(house: Store, worker: WorkerRow, run: RunRow, session: SessionRow): void {
  bindSession(house.db, worker.id, null);
  record(house, "session.left", subjectOf(worker, run), { session: session.vendor_id });
}

/** A conversation belongs to one worker at most. */
function assertNobodys(house: Store, worker: WorkerRow, { vendor, vendorId, configDir }: NewConversation): void {
  const taken = sessionInUse(house.db, vendor, configDir, vendorId);
  if (taken === null) return;
  const owner = taken.worker_id === worker.id ? worker : workerById(house.db, taken.worker_id);
  throw new PerdureError("conflict", `The ${vendor} conversation ${vendorId} is ${owner?.name}'s.`, {
    hint: `perdure history ${owner?.name}`,
    details: { session: vendorId, owner: owner?.name },
  });
}

/** The run begins in this conversation; whether it does, its vendor has to show. */
export function enter(house: Store, run: RunRow, session: SessionRow, began: RunSessionRow["began"]): void {
  enterSession(house.db, {
    run_id: run.id,
    session_id: session.id,
    began,
    at_ms: house.now(),
    proved: "pending",
    evidence: null,
    proved_ms: null,
    bytes_before: sessionById(house.db, session.id)?.transcript_bytes ?? null,
  });
}

export type Outcome = "known" | "proved" | "mismatch" | "rotated" | "stale" | "foreign";

/** One sign of the run's own vendor process. Fenced: a run that lost its name moves nothing. */
export function applySign(house: Store, runId: string, sign: Sign): Outcome {
  // It becomes a file name and an argument: from a hook or a registry it is as good as from a stranger.
  if (!isSessionId(sign.session)) return "stale";
  const run = runById(house.db, runId);
  const worker = run && workerById(house.db, run.worker_id);
  const entry = run && lastSessionOfRun(house.db, run.id);
  const session = run && sessionOfRun(house.db, run.id);
  if (!run || !worker || !entry || !session) return "stale";
  if (sign.stays && sign.session !== session.vendor_id) return "stale";
  if (standing(leaseOf(worker), run.id, run.generation) !== "current") return "stale";
  const finding = observe({ session: session.vendor_id, proved: provedOf(entry) }, sign.session);
  if (finding.kind === "proved") prove(house, worker, run, session, true, sign.evidence);
  if (finding.kind === "mismatch") {
    prove(house, worker, run, session, false, `${sign.evidence} shows ${sign.session}`);
  }
  return finding.kind === "rotated" ? rotate(house, worker, run, session, sign) : finding.kind;
}

/** What was seen of its transcript. One that was begun inside the program may live in a folder of its own. */
export function noteTranscript(house: Machine, session: SessionRow, seen: Omit<GoodTranscript, "state">): void {
  const { file, bytes, version, cwd } = seen;
  setTranscript(house.db, session.id, { file, bytes, version, boot: house.processes.bootId() });
  if (session.provenance !== "rotated" || cwd === undefined || cwd === session.launch_cwd) return;
  setPlace(house.db, session.id, cwd, session.config_variables);
}

/** A prompt was sent in the conversation the run is in: from now on an empty transcript is a loss. */
export function notePrompt(house: Store, runId: string, { session: id, activity }: Sign): void {
  const session = sessionOfRun(house.db, runId);
  if (activity === "busy" && session?.vendor_id === id && session.prompted === 0) setPrompted(house.db, session.id);
}

export function prove(
  house: Store,
  worker: WorkerRow,
  run: RunRow,
  session: SessionRow,
  proved: boolean,
  evidence: string,
): void {
  setProof(house.db, {
    run_id: run.id,
    proved: proved ? "true" : "false",
    evidence,
    proved_ms: house.now(),
  });
  const type = proved ? "session.proved" : "session.mismatch";
  record(house, type, subjectOf(worker, run), { session: session.vendor_id, evidence });
}

/** `/clear`, `/new`, or a resume inside the program: the worker goes along, unless the other one is somebody else's. */
function rotate(house: Store, worker: WorkerRow, run: RunRow, from: SessionRow, sign: Sign): Outcome {
  const known = sessionInUse(house.db, from.vendor, from.config_dir, sign.session);
  if (known && known.worker_id !== worker.id) {
    record(house, "session.foreign", subjectOf(worker, run), {
      session: sign.session,
      owner: workerById(house.db, known.worker_id)?.name ?? null,
      evidence: sign.evidence,
    });
    return "foreign";
  }
  const to = known ?? bindNew(house, { ...worker, session_id: from.id }, run, rotated(from, sign.session));
  bind(house, worker, to.id);
  const now = house.now();
  enterSession(house.db, {
    run_id: run.id,
    session_id: to.id,
    began: "rotation",
    at_ms: now,
    proved: "true",
    evidence: sign.evidence,
    proved_ms: now,
    bytes_before: to.transcript_bytes,
  });
  const data = { from: from.vendor_id, to: sign.session, evidence: sign.evidence };
  record(house, "session.rotated", subjectOf(worker, run), data);
  return "rotated";
}

function rotated(from: SessionRow, vendorId: string): NewConversation {
  return {
    vendor: from.vendor,
    vendorId,
    configDir: from.config_dir,
    variables: JSON.parse(from.config_variables) as Variables,
    launchCwd: from.launch_cwd,
    provenance: "rotated",
  };
}

export function provedOf({ proved }: Pick<RunSessionRow, "proved">): Proved {
  return proved === "pending" ? "pending" : proved === "true";
}

function subjectOf(worker: WorkerRow, run: RunRow | null): Parameters<typeof record>[2] {
  const who = { projectId: worker.project_id, workerId: worker.id };
  return run ? { ...who, run: run.id, generation: run.generation } : who;
}

function mustBe(row: SessionRow | null): SessionRow {
  if (row === null) throw new Error("a session vanished in its own transaction");
  return row;
}

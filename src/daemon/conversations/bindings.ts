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
import { runById, type Run } from "../../store/runs.ts";
import {
  bindConversation,
  enterConversation,
  insertConversation,
  lastEntryOfRun,
  conversationById,
  conversationInUse,
  conversationOfRun,
  setLocation,
  setPrompted,
  setProof,
  setTranscript,
  type RunConversation,
  type Conversation,
} from "../../store/conversations.ts";
import { activeSaved, setSavedConversation, touchSaved } from "../../store/saved.ts";
import { setForkOf, workerById, type Worker } from "../../store/workers.ts";
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
export function bindNew(house: Store, worker: Worker, run: Run | null, fresh: NewConversation): Conversation {
  assertNobodys(house, worker, fresh);
  const id = insertConversation(house.db, {
    workerId: worker.id,
    vendor: fresh.vendor,
    vendorId: fresh.vendorId,
    configDir: fresh.configDir,
    variables: fresh.variables,
    launchCwd: fresh.launchCwd,
    provenance: fresh.provenance,
    rotatedFrom: worker.conversationId,
    forkedFrom: fresh.forkedFrom ?? null,
    createdMs: house.now(),
  });
  bind(house, worker, id);
  if (worker.forkOf !== null) setForkOf(house.db, worker.id, null);
  const { vendor, vendorId, provenance } = fresh;
  record(house, "session.bound", subjectOf(worker, run), { session: vendorId, vendor, provenance });
  return mustBe(conversationById(house.db, id));
}

/** The worker is in this conversation, and so it is in the saved session that follows it. */
export function bind(house: Store, worker: Worker, sessionId: number): void {
  bindConversation(house.db, worker.id, sessionId);
  const active = activeSaved(house.db, worker.projectId);
  if (active === null) return;
  setSavedConversation(house.db, active.id, worker.id, sessionId);
  touchSaved(house.db, active.id, house.now());
}

/** The worker goes on with a program that has none; its lineage stays. */
export function leaveSession(house: Store, worker: Worker, run: Run, session: Conversation): void {
  bindConversation(house.db, worker.id, null);
  record(house, "session.left", subjectOf(worker, run), { session: session.vendorId });
}

/** A conversation belongs to one worker at most. */
function assertNobodys(house: Store, worker: Worker, { vendor, vendorId, configDir }: NewConversation): void {
  const taken = conversationInUse(house.db, vendor, configDir, vendorId);
  if (taken === null) return;
  const owner = taken.workerId === worker.id ? worker : workerById(house.db, taken.workerId);
  throw new PerdureError("conflict", `The ${vendor} conversation ${vendorId} is ${owner?.name}'s.`, {
    hint: `perdure history ${owner?.name}`,
    details: { session: vendorId, owner: owner?.name },
  });
}

/** The run begins in this conversation; whether it does, its vendor has to show. */
export function enter(house: Store, run: Run, session: Conversation, began: RunConversation["began"]): void {
  enterConversation(house.db, {
    runId: run.id,
    conversationId: session.id,
    began,
    atMs: house.now(),
    proved: "pending",
    evidence: null,
    provedMs: null,
    bytesBefore: conversationById(house.db, session.id)?.transcriptBytes ?? null,
  });
}

export type Outcome = "known" | "proved" | "mismatch" | "rotated" | "stale" | "foreign";

/** One sign of the run's own vendor process. Fenced: a run that lost its name moves nothing. */
export function applySign(house: Store, runId: string, sign: Sign): Outcome {
  // It becomes a file name and an argument: from a hook or a registry it is as good as from a stranger.
  if (!isSessionId(sign.session)) return "stale";
  const run = runById(house.db, runId);
  const worker = run && workerById(house.db, run.workerId);
  const entry = run && lastEntryOfRun(house.db, run.id);
  const session = run && conversationOfRun(house.db, run.id);
  if (!run || !worker || !entry || !session) return "stale";
  if (sign.stays && sign.session !== session.vendorId) return "stale";
  if (standing(worker.lease, run.id, run.generation) !== "current") return "stale";
  const finding = observe({ session: session.vendorId, proved: provedOf(entry) }, sign.session);
  if (finding.kind === "proved") prove(house, worker, run, session, true, sign.evidence);
  if (finding.kind === "mismatch") {
    prove(house, worker, run, session, false, `${sign.evidence} shows ${sign.session}`);
  }
  return finding.kind === "rotated" ? rotate(house, worker, run, session, sign) : finding.kind;
}

/** What was seen of its transcript. One that was begun inside the program may live in a folder of its own. */
export function noteTranscript(house: Machine, session: Conversation, seen: Omit<GoodTranscript, "state">): void {
  const { file, bytes, version, cwd } = seen;
  setTranscript(house.db, session.id, { file, bytes, version, boot: house.processes.bootId() });
  if (session.provenance !== "rotated" || cwd === undefined || cwd === session.launchCwd) return;
  setLocation(house.db, session.id, cwd, session.variables);
}

/** A prompt was sent in the conversation the run is in: from now on an empty transcript is a loss. */
export function notePrompt(house: Store, runId: string, { session: id, activity }: Sign): void {
  const session = conversationOfRun(house.db, runId);
  if (activity === "busy" && session?.vendorId === id && !session.prompted) setPrompted(house.db, session.id);
}

export function prove(
  house: Store,
  worker: Worker,
  run: Run,
  session: Conversation,
  proved: boolean,
  evidence: string,
): void {
  setProof(house.db, {
    runId: run.id,
    proved: proved ? "true" : "false",
    evidence,
    provedMs: house.now(),
  });
  const type = proved ? "session.proved" : "session.mismatch";
  record(house, type, subjectOf(worker, run), { session: session.vendorId, evidence });
}

/** `/clear`, `/new`, or a resume inside the program: the worker goes along, unless the other one is somebody else's. */
function rotate(house: Store, worker: Worker, run: Run, from: Conversation, sign: Sign): Outcome {
  const known = conversationInUse(house.db, from.vendor, from.configDir, sign.session);
  if (known && known.workerId !== worker.id) {
    record(house, "session.foreign", subjectOf(worker, run), {
      session: sign.session,
      owner: workerById(house.db, known.workerId)?.name ?? null,
      evidence: sign.evidence,
    });
    return "foreign";
  }
  const to = known ?? bindNew(house, { ...worker, conversationId: from.id }, run, rotated(from, sign.session));
  bind(house, worker, to.id);
  const now = house.now();
  enterConversation(house.db, {
    runId: run.id,
    conversationId: to.id,
    began: "rotation",
    atMs: now,
    proved: "true",
    evidence: sign.evidence,
    provedMs: now,
    bytesBefore: to.transcriptBytes,
  });
  const data = { from: from.vendorId, to: sign.session, evidence: sign.evidence };
  record(house, "session.rotated", subjectOf(worker, run), data);
  return "rotated";
}

function rotated(from: Conversation, vendorId: string): NewConversation {
  return {
    vendor: from.vendor,
    vendorId,
    configDir: from.configDir,
    variables: from.variables,
    launchCwd: from.launchCwd,
    provenance: "rotated",
  };
}

export function provedOf({ proved }: Pick<RunConversation, "proved">): Proved {
  return proved === "pending" ? "pending" : proved === "true";
}

function subjectOf(worker: Worker, run: Run | null): Parameters<typeof record>[2] {
  const who = { projectId: worker.projectId, workerId: worker.id };
  return run ? { ...who, run: run.id, generation: run.generation } : who;
}

function mustBe(row: Conversation | null): Conversation {
  if (row === null) throw new Error("a session vanished in its own transaction");
  return row;
}

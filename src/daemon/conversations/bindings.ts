import { leaseStanding } from "../../core/lease.ts";
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
  moveConversation,
  setPrompted,
  setProof,
  setTranscript,
  type RunConversation,
  type Conversation,
} from "../../store/conversations.ts";
import { activeSaved, setSavedConversation, touchSaved } from "../../store/saved.ts";
import { setForkOf, workerById, type Worker } from "../../store/workers.ts";
import { requirePresent } from "../../util/require-present.ts";
import type { BaseServices, ChangeServices } from "../base-services.ts";
import { recordEvent } from "../events.ts";

// Binds workers to conversations and applies the signs of their agents. Everything here runs inside a change.

type TranscriptServices = Pick<BaseServices, "db" | "processes">;

export interface NewConversation {
  vendor: string;
  vendorId: string;
  configDir: string;
  variables: Variables;
  launchCwd: string;
  provenance: Provenance;
  /** The conversation that the new one is a branch of. */
  forkedFrom?: number | null;
}

/** Makes a conversation and binds the worker to it; the conversation before it stays in the worker's lineage. */
export function bindNewConversation(
  services: ChangeServices,
  worker: Worker,
  run: Run | null,
  fresh: NewConversation,
): Conversation {
  assertUnbound(services, worker, fresh);
  const id = insertConversation(services.db, {
    workerId: worker.id,
    vendor: fresh.vendor,
    vendorId: fresh.vendorId,
    configDir: fresh.configDir,
    variables: fresh.variables,
    launchCwd: fresh.launchCwd,
    provenance: fresh.provenance,
    rotatedFrom: worker.conversationId,
    forkedFrom: fresh.forkedFrom ?? null,
    createdMs: services.now(),
  });
  bindWorker(services, worker, id);
  if (worker.forkOf !== null) setForkOf(services.db, worker.id, null);
  const { vendor, vendorId, provenance } = fresh;
  recordEvent(services, "session.bound", subjectOf(worker, run), { session: vendorId, vendor, provenance });
  return requirePresent(conversationById(services.db, id), `conversation ${vendorId}`);
}

/** Binds the worker to the conversation, also in the active saved session, which follows the workers. */
export function bindWorker(services: ChangeServices, worker: Worker, conversationId: number): void {
  bindConversation(services.db, worker.id, conversationId);
  const active = activeSaved(services.db, worker.projectId);
  if (active === null) return;
  setSavedConversation(services.db, active.id, worker.id, conversationId);
  touchSaved(services.db, active.id, services.now());
}

/** Unbinds a worker whose program has no conversations; its lineage stays. */
export function leaveConversation(
  services: ChangeServices,
  worker: Worker,
  run: Run,
  conversation: Conversation,
): void {
  bindConversation(services.db, worker.id, null);
  recordEvent(services, "session.left", subjectOf(worker, run), { session: conversation.vendorId });
}

/** Throws if the conversation is bound already: it belongs to one worker at most. */
function assertUnbound(
  services: ChangeServices,
  worker: Worker,
  { vendor, vendorId, configDir }: NewConversation,
): void {
  const taken = conversationInUse(services.db, vendor, configDir, vendorId);
  if (taken === null) return;
  const owner = taken.workerId === worker.id ? worker : workerById(services.db, taken.workerId);
  throw new PerdureError("conflict", `The ${vendor} conversation ${vendorId} belongs to ${owner?.name}.`, {
    hint: `perdure history ${owner?.name}`,
    details: { session: vendorId, owner: owner?.name },
  });
}

/** Records that the run is to begin in this conversation; the vendor's signs will prove whether it does. */
export function enterRun(
  services: ChangeServices,
  run: Run,
  conversation: Conversation,
  began: RunConversation["began"],
): void {
  enterConversation(services.db, {
    runId: run.id,
    conversationId: conversation.id,
    began,
    atMs: services.now(),
    proved: "pending",
    evidence: null,
    provedMs: null,
    bytesBefore: conversationById(services.db, conversation.id)?.transcriptBytes ?? null,
  });
}

export type SignOutcome = "known" | "proved" | "mismatch" | "rotated" | "stale" | "foreign";

/** Applies one sign of the run's own vendor process. A run that has lost its name changes nothing. */
export function applySign(services: ChangeServices, runId: string, sign: Sign): SignOutcome {
  // The id becomes a file name and an argument, and hooks and registries are untrusted input.
  if (!isSessionId(sign.session)) return "stale";
  const run = runById(services.db, runId);
  const worker = run && workerById(services.db, run.workerId);
  const entry = run && lastEntryOfRun(services.db, run.id);
  const conversation = run && conversationOfRun(services.db, run.id);
  if (!run || !worker || !entry || !conversation) return "stale";
  if (sign.stays && sign.session !== conversation.vendorId) return "stale";
  if (leaseStanding(worker.lease, run.id, run.generation) !== "current") return "stale";
  const finding = observe({ session: conversation.vendorId, proved: provedOf(entry) }, sign.session);
  if (finding.kind === "proved") recordProof(services, worker, run, conversation, true, sign.evidence);
  if (finding.kind === "mismatch") {
    recordProof(services, worker, run, conversation, false, `${sign.evidence} shows ${sign.session}`);
  }
  return finding.kind === "rotated" ? rotate(services, worker, run, conversation, sign) : finding.kind;
}

/** Records a transcript that was found. A conversation that was begun inside the program may have a folder of its own. */
export function recordTranscript(
  services: TranscriptServices,
  conversation: Conversation,
  found: Omit<GoodTranscript, "state">,
): void {
  const { file, bytes, version, cwd } = found;
  setTranscript(services.db, conversation.id, { file, bytes, version, boot: services.processes.bootId() });
  if (conversation.provenance !== "rotated" || cwd === undefined || cwd === conversation.launchCwd) return;
  moveConversation(services.db, conversation.id, cwd, conversation.variables);
}

/** Records the first prompt in the conversation that the run is in: from now on an empty transcript is a loss. */
export function recordPrompt(services: ChangeServices, runId: string, { session: id, activity }: Sign): void {
  const conversation = conversationOfRun(services.db, runId);
  if (activity === "busy" && conversation?.vendorId === id && !conversation.prompted)
    setPrompted(services.db, conversation.id);
}

export function recordProof(
  services: ChangeServices,
  worker: Worker,
  run: Run,
  conversation: Conversation,
  proved: boolean,
  evidence: string,
): void {
  setProof(services.db, {
    runId: run.id,
    proved: proved ? "true" : "false",
    evidence,
    provedMs: services.now(),
  });
  const type = proved ? "session.proved" : "session.mismatch";
  recordEvent(services, type, subjectOf(worker, run), { session: conversation.vendorId, evidence });
}

/** Binds the worker to the conversation its agent changed to (`/clear`, `/new`, a resume), unless another worker owns it. */
function rotate(services: ChangeServices, worker: Worker, run: Run, from: Conversation, sign: Sign): SignOutcome {
  const known = conversationInUse(services.db, from.vendor, from.configDir, sign.session);
  if (known && known.workerId !== worker.id) {
    recordEvent(services, "session.foreign", subjectOf(worker, run), {
      session: sign.session,
      owner: workerById(services.db, known.workerId)?.name ?? null,
      evidence: sign.evidence,
    });
    return "foreign";
  }
  const to =
    known ??
    bindNewConversation(services, { ...worker, conversationId: from.id }, run, rotatedConversation(from, sign.session));
  bindWorker(services, worker, to.id);
  const now = services.now();
  enterConversation(services.db, {
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
  recordEvent(services, "session.rotated", subjectOf(worker, run), data);
  return "rotated";
}

function rotatedConversation(from: Conversation, vendorId: string): NewConversation {
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

function subjectOf(worker: Worker, run: Run | null): Parameters<typeof recordEvent>[2] {
  const subject = { projectId: worker.projectId, workerId: worker.id };
  return run ? { ...subject, run: run.id, generation: run.generation } : subject;
}

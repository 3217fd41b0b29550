import { join, relative } from "node:path";
import { leaseStanding } from "../../../core/lease.ts";
import { isOpen, observe, observeStray } from "../../../core/proof.ts";
import { OWN_PROMPTS_MAX } from "../../../limits/index.ts";
import { PerdureError } from "../../../protocol/errors.ts";
import { verb } from "../../../protocol/hint.ts";
import {
  isSessionId,
  type GoodTranscript,
  type Proved,
  type Provenance,
  type Sign,
  type Split,
  type Variables,
} from "../../../protocol/records/conversation.ts";
import { runById, type Run } from "../../../store/runs.ts";
import {
  bindConversation,
  enterConversation,
  insertConversation,
  lastEntryOfRun,
  conversationById,
  conversationInUse,
  conversationsOfId,
  conversationOfRun,
  moveConversation,
  setConversationName,
  setCopyBehind,
  setOwnPrompts,
  setPrompted,
  setProof,
  setTranscript,
  type RunConversation,
  type Conversation,
} from "../../../store/conversations.ts";
import { activeSaved, setSavedConversation, touchSaved } from "../../../store/saved.ts";
import { isSameFile } from "../../../state/files.ts";
import { setForkOf, setProvedOptions, workerById, type Worker } from "../../../store/workers.ts";
import { requirePresent } from "../../../util/require-present.ts";
import { adapterOf } from "../../../vendors/index.ts";
import type { BaseServices, ChangeServices } from "../../base-services.ts";
import { recordEvent } from "../../events.ts";
import { optionsDigest } from "./refused-start.ts";

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
  /** The new one takes the place of a conversation that its user had cleared, and in which nothing was said since. */
  cleared?: boolean;
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
    cleared: fresh.cleared ?? false,
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
  throw belongsTo(taken.workerId === worker.id ? worker : workerById(services.db, taken.workerId), taken);
}

/**
 * Finds the conversation of another worker that has the same transcript by another config dir: people link the transcripts of one to
 * those of another. Where nobody tells the transcript (`file` is null), it is looked for in the place of the other's; and where that
 * is not known, either, both are the same if they are written to one folder.
 */
export function twinOf(
  services: ChangeServices,
  worker: Worker,
  there: Pick<Conversation, "vendor" | "vendorId" | "configDir" | "launchCwd">,
  file: string | null,
): Conversation | null {
  const storage = adapterOf(there.vendor)?.storage;
  const isTwin = (other: Conversation): boolean => {
    const path = file ?? placeInDir(there.configDir, other);
    if (other.transcript !== null && path !== null) return isSameFile(other.transcript, path);
    const [folder, theirs] = [storage?.writesTo?.(there), storage?.writesTo?.(other)];
    return folder !== undefined && theirs !== undefined && isSameFile(folder, theirs);
  };
  const others = conversationsOfId(services.db, there.vendor, there.vendorId);
  return others.find((other) => other.workerId !== worker.id && isTwin(other)) ?? null;
}

/** Returns where a conversation's transcript would be in another config dir; null if it was never seen, or not in its own. */
function placeInDir(dir: string, { configDir, transcript }: Conversation): string | null {
  const inside = transcript === null ? ".." : relative(configDir, transcript);
  return inside.startsWith("..") ? null : join(dir, inside);
}

/** Returns the refusal of a conversation that is a worker's. */
export function belongsTo(
  owner: Worker | null,
  { vendor, vendorId }: Pick<Conversation, "vendor" | "vendorId">,
): PerdureError {
  return new PerdureError("conflict", `The ${vendor} conversation ${vendorId} belongs to ${owner?.name}.`, {
    hint: verb("history", owner?.name ?? "NAME"),
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
  setCopyBehind(services.db, conversation.id, true);
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
  const stray = strayPlaceOf(conversation, sign);
  const state = { session: conversation.vendorId, proved: provedOf(entry) };
  if (stray === null && !isOpen(sign)) return "known";
  const finding = stray === null && isOpen(sign) ? observe(state, sign) : observeStray(state);
  if (finding.kind === "mismatch" && stray !== null) {
    const evidence = `${sign.evidence} shows a copy of ${sign.session} in ${stray}, not the worker's own`;
    recordProof(services, worker, run, conversation, false, evidence);
    return finding.kind;
  }
  if (finding.kind === "proved") recordProof(services, worker, run, conversation, true, sign.evidence);
  if (finding.kind === "mismatch") {
    const by = sign.isSuccessors ? " of another process, after its own had ended," : "";
    recordProof(services, worker, run, conversation, false, `${sign.evidence}${by} shows ${sign.session}`);
  }
  return finding.kind === "rotated" ? rotate(services, worker, run, conversation, sign) : finding.kind;
}

/**
 * Returns the place in which the process has a copy of the run's conversation open, and not the conversation; null if it is the right
 * place, or nobody can tell. A conversation whose transcript was never seen is where its first process says; one that says no more
 * than its folder must be in the config dir, because the transcript would be found nowhere else.
 */
export function strayPlaceOf(conversation: Conversation, sign: Sign): string | null {
  const placeOf = adapterOf(conversation.vendor)?.storage.placeOf;
  if (placeOf === undefined || sign.session !== conversation.vendorId) return null;
  const shown = sign.place ?? (sign.transcript === undefined ? null : placeOf(sign.transcript));
  const untold = sign.transcript === undefined ? conversation.configDir : null;
  const own = conversation.transcript === null ? untold : placeOf(conversation.transcript);
  return shown === null || own === null || isSameFile(shown, own) ? null : shown;
}

/**
 * Records a transcript that was found. A conversation that was begun inside the program may have a folder of its own, which its
 * transcript names when it is first seen; later the transcript may name a folder that has been moved since.
 */
export function recordTranscript(
  services: TranscriptServices,
  conversation: Conversation,
  found: Omit<GoodTranscript, "state">,
): void {
  const { file, bytes, version, cwd } = found;
  setTranscript(services.db, conversation.id, { file, bytes, version, boot: services.processes.bootId() });
  const isFirst = conversation.provenance === "rotated" && conversation.transcript === null;
  if (!isFirst || cwd === undefined || cwd === conversation.launchCwd) return;
  moveConversation(services.db, conversation.id, cwd, conversation.variables);
}

/** Records what a sign tells of the conversation that the run is in, besides which one that is. */
export function recordDetails(services: ChangeServices, runId: string, sign: Sign): void {
  recordPrompt(services, runId, sign);
  recordName(services, runId, sign);
}

/** Tells whether the sign has details of this conversation that are not on record yet. */
export function tellsDetails(conversation: Conversation, sign: Sign): boolean {
  return tellsOfPrompt(conversation, sign) || tellsOfName(conversation, sign);
}

/**
 * Records that a prompt was sent in the conversation that the run is in: from now on an empty transcript is a loss. Of the
 * first and the last prompts the marks are kept, by which the worker's own turns are found in a transcript that others write to, too.
 */
function recordPrompt(services: ChangeServices, runId: string, sign: Sign): void {
  const conversation = conversationOfRun(services.db, runId);
  if (!conversation || !tellsOfPrompt(conversation, sign)) return;
  if (strayPlaceOf(conversation, sign) !== null) return;
  if (sign.activity === "busy" && !conversation.prompted) setPrompted(services.db, conversation.id);
  if (sign.prompt === undefined) return;
  setOwnPrompts(services.db, conversation.id, withPrompt(conversation.ownPrompts, sign.prompt));
}

/**
 * Returns the marks with that of a new prompt. The first one is kept as well: what a gap takes out of reach is everything before it,
 * however much was said since.
 */
export function withPrompt(marks: readonly string[], prompt: string): string[] {
  const all = [...marks.filter((mark) => mark !== prompt), prompt];
  return [...all.slice(0, 1), ...all.slice(1).slice(1 - OWN_PROMPTS_MAX)];
}

/** Tells whether the sign is of a prompt in this conversation that is not on record yet. */
function tellsOfPrompt({ vendorId, prompted, ownPrompts }: Conversation, sign: Sign): boolean {
  if (sign.session !== vendorId) return false;
  return (sign.activity === "busy" && !prompted) || (sign.prompt !== undefined && ownPrompts.at(-1) !== sign.prompt);
}

/** Records what its user called the conversation that the run is in. The worker keeps its own name. */
function recordName(services: ChangeServices, runId: string, sign: Sign): void {
  const run = runById(services.db, runId);
  const worker = run && workerById(services.db, run.workerId);
  const conversation = conversationOfRun(services.db, runId);
  if (!run || !worker || !conversation || !tellsOfName(conversation, sign)) return;
  if (leaseStanding(worker.lease, run.id, run.generation) !== "current") return;
  setConversationName(services.db, conversation.id, sign.name ?? null);
}

/** Tells whether the sign is of another name of this conversation than the one on record. */
function tellsOfName(conversation: Conversation, sign: Sign): boolean {
  const { vendorId, name } = conversation;
  if (sign.name === undefined || sign.name === name || sign.session !== vendorId) return false;
  return isOpen(sign) && strayPlaceOf(conversation, sign) === null;
}

/**
 * Takes the other side of a split, because the operator has asked for it: what the worker's own runs said is no longer
 * looked for.
 */
export function acceptSplit(
  services: ChangeServices,
  worker: Worker,
  run: Run,
  conversation: Conversation,
  { ours, theirs }: Split,
): void {
  setOwnPrompts(services.db, conversation.id, []);
  const data = { session: conversation.vendorId, left: ours.id, leftWords: ours.words, taken: theirs.id };
  recordEvent(services, "session.split-accepted", subjectOf(worker, run), data);
}

/** Tells whether the conversation was cleared by its user, so that a conversation in its place begins without the first prompt. */
export function wasCleared(conversation: Conversation | null): boolean {
  return conversation !== null && (conversation.provenance === "rotated" || conversation.cleared);
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
  if (proved) recordProvedOptions(services, worker);
  const type = proved ? "session.proved" : "session.mismatch";
  recordEvent(services, type, subjectOf(worker, run), { session: conversation.vendorId, evidence });
}

function recordProvedOptions(services: ChangeServices, worker: Worker): void {
  const digest = optionsDigest(worker);
  if (digest !== null && digest !== worker.provedOptions) setProvedOptions(services.db, worker.id, digest);
}

/** Binds the worker to the conversation its agent changed to (`/clear`, `/new`, a resume), unless another worker owns it. */
function rotate(services: ChangeServices, worker: Worker, run: Run, from: Conversation, sign: Sign): SignOutcome {
  const known = conversationInUse(services.db, from.vendor, from.configDir, sign.session);
  const owned = known ?? twinOf(services, worker, { ...from, vendorId: sign.session }, sign.transcript ?? null);
  if (owned && owned.workerId !== worker.id) {
    recordEvent(services, "session.foreign", subjectOf(worker, run), {
      session: sign.session,
      owner: workerById(services.db, owned.workerId)?.name ?? null,
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
  setCopyBehind(services.db, to.id, true);
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

import { existsSync } from "node:fs";
import { join } from "node:path";
import { hasNothing, unrecordedMessage } from "../../../core/launch.ts";
import type { Transcript } from "../../../protocol/records/conversation.ts";
import type { Run } from "../../../store/runs.ts";
import { lastEntryOfRun, conversationOfRun, setPrompted } from "../../../store/conversations.ts";
import { workerById, type Worker } from "../../../store/workers.ts";
import { INTERRUPTED_MARK } from "../../../runtime/wrapper/script.ts";
import { adapterOf, DEPOSITED_FILE } from "../../../vendors/index.ts";
import { RUN_FILE_BYTES_MAX } from "../../../limits/index.ts";
import { readIfReadable } from "../../../state/bounded-read.ts";
import type { ChangeServices } from "../../base-services.ts";
import { recordUnresumable } from "../../events.ts";
import type { ConversationServices } from "../services.ts";
import { probeConversation } from "../probe/probe.ts";
import { recordTranscript, recordProof } from "../binding/bindings.ts";

/** The facts about the end of a run that decide whether its conversation must have grown. */
export interface EndFacts {
  /** The program's exit code; null when nobody could tell. */
  exit: number | null;
  /** Somebody has interrupted or stopped the run: some programs end with 0 then, whether or not they have begun. */
  interrupted: boolean;
  /** A hook told of a prompt that must be on disk by now. */
  mustBeWritten: boolean;
  /** A foreign process had the conversation open, and may be the one that wrote to it. */
  hadForeignOpener: boolean;
}

/**
 * Decides, inside a change, the proof of an ended run by what it wrote. A transcript that has grown proves a run that showed no sign
 * in time, unless a foreign process had it open and may be the one that wrote. A headless run that succeeded and wrote nothing there
 * wrote to another conversation, or to none; and whatever was proved before, a conversation in which something was said and of which
 * nothing is on disk cannot be resumed.
 */
export function finishProof(
  services: ChangeServices & Pick<ConversationServices, "processes" | "runs">,
  run: Run,
  transcript: Transcript,
  { exit, interrupted, mustBeWritten, hadForeignOpener }: EndFacts,
): void {
  const entry = lastEntryOfRun(services.db, run.id);
  const conversation = conversationOfRun(services.db, run.id);
  const worker = workerById(services.db, run.workerId);
  if (!entry || !conversation || !worker) return;
  const before = bytesBeforeProgram(services, run, entry.bytesBefore);
  const bytes = transcript.state === "good" ? transcript.bytes : 0;
  const endedWell = exit === 0 && !interrupted && isHeadless(worker, run);
  const grew = bytes > (before ?? 0);
  const conclude = (proved: boolean, evidence: string): void =>
    recordProof(services, worker, run, conversation, proved, evidence);
  if (
    entry.proved !== "false" &&
    (mustBeWritten || endedWell) &&
    hasNothing(conversation.transcriptBytes, transcript)
  ) {
    const evidence = `${endedWell ? "ended well" : "was prompted"} and ${RECORDED_NOTHING}`;
    setPrompted(services.db, conversation.id);
    conclude(false, evidence);
    recordUnresumable(services, worker, unrecordedMessage(conversation.vendor, conversation.vendorId, evidence));
  } else if (entry.proved === "pending" && grew && !hadForeignOpener) {
    conclude(true, before === null ? "transcript written" : `transcript grew from ${before} to ${bytes} bytes`);
  } else if (entry.proved === "true" && (mustBeWritten || endedWell) && isUnchanged(transcript, before)) {
    conclude(
      false,
      `${endedWell ? "ended well" : "was prompted"} and recorded nothing of it: is recording turned off?`,
    );
  } else if (entry.proved === "pending" && !grew && endedWell) {
    conclude(false, "ended well and wrote nothing to its conversation");
  }
  if (transcript.state === "good" && bytes > (conversation.transcriptBytes ?? 0)) {
    recordTranscript(services, conversation, transcript);
  }
}

/** Returns how long the conversation was when the program started: mail that we put there first is not the program's. */
function bytesBeforeProgram(
  { runs }: Pick<ConversationServices, "runs">,
  run: Run,
  atClaim: number | null,
): number | null {
  const deposited = Number(readIfReadable(join(runs.runDir(run.id), DEPOSITED_FILE), RUN_FILE_BYTES_MAX));
  return Number.isInteger(deposited) && deposited > 0 ? Math.max(deposited, atClaim ?? 0) : atClaim;
}

/** Tells whether a transcript that had something before the run has nothing more; one whose words can be taken back does not tell. */
function isUnchanged(transcript: Transcript, before: number | null): boolean {
  return transcript.state === "good" && transcript.shrinks !== true && before !== null && transcript.bytes === before;
}

/** Tells whether somebody has interrupted, stopped or displaced the run. */
export function wasInterrupted({ runs }: Pick<ConversationServices, "runs">, run: Run): boolean {
  return run.stoppedBy !== null || run.displacedMs !== null || existsSync(join(runs.runDir(run.id), INTERRUPTED_MARK));
}

const RECORDED_NOTHING = "recorded nothing: is recording turned off?";

/** Tells whether a run of the worker's last command has no person in front of it: its arguments say so, or it is a turn. */
export function isHeadless(worker: Worker, run: Pick<Run, "turn">): boolean {
  if (run.turn === 1) return true;
  const args = (worker.command ?? []).slice((worker.programAt ?? 0) + 1);
  return worker.vendor !== null && (adapterOf(worker.vendor)?.launch.readArgs(args).headless ?? false);
}

/** Tells whether the run's worker runs without a person in front of it. */
export function isHeadlessRun({ db }: Pick<ConversationServices, "db">, run: Run): boolean {
  const worker = workerById(db, run.workerId);
  return worker !== null && isHeadless(worker, run);
}

/** Proves an adopted run, which is in another conversation now, by what it wrote to the one it should have begun in. */
export async function proveByTranscript(
  services: ConversationServices,
  run: Run,
  openers: { hadForeignOpener: boolean },
): Promise<void> {
  const conversation = conversationOfRun(services.db, run.id);
  const entry = lastEntryOfRun(services.db, run.id);
  if (!conversation || entry?.proved !== "pending" || conversation.provenance === "minted") return;
  const transcript = await probeConversation(services, conversation);
  // The run goes on: only what it has written counts.
  const facts = { exit: null, interrupted: false, mustBeWritten: false, hadForeignOpener: openers.hadForeignOpener };
  await services.writer.write(() => finishProof(services, run, transcript, facts));
}

import type { Transcript } from "../../protocol/records/conversation.ts";
import type { Run } from "../../store/runs.ts";
import { lastEntryOfRun, conversationOfRun } from "../../store/conversations.ts";
import { workerById, type Worker } from "../../store/workers.ts";
import { adapterOf } from "../../vendors/index.ts";
import type { BaseServices, ChangeServices } from "../base-services.ts";
import type { ConversationServices } from "./services.ts";
import { probeConversation } from "./probe.ts";
import { recordTranscript, recordProof } from "./bindings.ts";

/**
 * Decides, inside a change, the proof of an ended run that showed no sign in time. A transcript that has grown proves the
 * run, because nobody else writes to it; a headless run that succeeded and wrote nothing there wrote to another conversation.
 */
export function finishProof(
  services: ChangeServices & Pick<BaseServices, "processes">,
  run: Run,
  transcript: Transcript,
): void {
  const entry = lastEntryOfRun(services.db, run.id);
  const conversation = conversationOfRun(services.db, run.id);
  const worker = workerById(services.db, run.workerId);
  if (!entry || !conversation || !worker) return;
  const before = entry.bytesBefore;
  const bytes = transcript.state === "good" ? transcript.bytes : 0;
  if (entry.proved === "pending" && bytes > (before ?? 0)) {
    const evidence = before === null ? "transcript written" : `transcript grew from ${before} to ${bytes} bytes`;
    recordProof(services, worker, run, conversation, true, evidence);
  } else if (entry.proved === "pending" && run.exit === 0 && isHeadless(worker)) {
    recordProof(services, worker, run, conversation, false, "ended well and wrote nothing to its conversation");
  }
  if (transcript.state === "good" && bytes > (conversation.transcriptBytes ?? 0)) {
    recordTranscript(services, conversation, transcript);
  }
}

/** Tells whether the worker's last command runs without a person in front of it. */
export function isHeadless(worker: Worker): boolean {
  const args = (worker.command ?? []).slice((worker.programAt ?? 0) + 1);
  return worker.vendor !== null && (adapterOf(worker.vendor)?.launch.readArgs(args).headless ?? false);
}

/** Proves an adopted run, which is in another conversation now, by what it wrote to the one it should have begun in. */
export async function proveByTranscript(services: ConversationServices, run: Run): Promise<void> {
  const conversation = conversationOfRun(services.db, run.id);
  const entry = lastEntryOfRun(services.db, run.id);
  if (!conversation || entry?.proved !== "pending" || conversation.provenance === "minted") return;
  const transcript = await probeConversation(services, conversation);
  await services.writer.write(() => finishProof(services, run, transcript));
}

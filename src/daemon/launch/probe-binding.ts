import type { Restored } from "../../protocol/records/launch.ts";
import type { Holder, Transcript } from "../../protocol/records/conversation.ts";
import { runById } from "../../store/runs.ts";
import { custodyOf } from "../../store/custody.ts";
import type { Conversation } from "../../store/conversations.ts";
import { workerById } from "../../store/workers.ts";
import { adapterOf } from "../../vendors/index.ts";
import { locationOf, probeConversation } from "../conversations/probe.ts";
import type { LaunchServices } from "./services.ts";

/** The findings, on disk and among the processes, about the conversation that a worker is bound to, before a claim. */
export interface ConversationProbe {
  conversationId: number | null;
  transcript: Transcript | null;
  holder: Holder | null;
  /** The restored copy, if the vendor had lost the transcript. */
  restored: Restored | null;
  /** Custody has an intact copy; checked only for a transcript that is not good. */
  hasCopy: boolean;
}

export async function probeBinding(
  services: LaunchServices,
  conversation: Conversation | null,
): Promise<ConversationProbe> {
  const adapter = conversation && adapterOf(conversation.vendor);
  const nothing = {
    conversationId: conversation?.id ?? null,
    transcript: null,
    holder: null,
    restored: null,
    hasCopy: false,
  };
  if (!conversation || !adapter) return nothing;
  // What the last run wrote is its proof, and has to be checked before anybody writes more.
  await services.conversations.finalCheckDone(conversation.id);
  const [holder = null] = adapter.liveness.holders(locationOf(conversation), services.processes);
  const found = await services.custody.checkAgainstCopy(conversation, await probeConversation(services, conversation));
  const copy = found.state === "good" ? null : custodyOf(services.db, conversation.id);
  const restored =
    holder === null && services.custody.isLost(conversation, found)
      ? await services.custody.restore(conversation)
      : null;
  const transcript = restored ? await probeConversation(services, conversation) : found;
  // The copy is updated before the start, because some vendors delete old conversations when they start.
  if (transcript.state === "good") await services.custody.updateCopy(conversation.id, transcript.file);
  return {
    conversationId: conversation.id,
    transcript,
    holder: holder && { ...holder, worker: ownerOf(services, holder.pid) },
    restored,
    hasCopy: copy !== null && (await services.custody.verifiedCopy(copy)) !== null,
  };
}

function ownerOf(services: LaunchServices, pid: number): string | undefined {
  const run = runById(services.db, services.processes.variable(pid, "PERDURE_RUN") ?? "");
  const isOurs = run && services.processes.variable(pid, "PERDURE_SOCKET") === services.paths.socket;
  return isOurs ? workerById(services.db, run.workerId)?.name : undefined;
}

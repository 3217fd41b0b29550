import type { Restored } from "../../protocol/records/launch.ts";
import type { Holder, Transcript } from "../../protocol/records/conversation.ts";
import { runById } from "../../store/runs.ts";
import { custodyOf } from "../../store/custody.ts";
import { type Conversation } from "../../store/conversations.ts";
import { workerById } from "../../store/workers.ts";
import { adapterOf } from "../../vendors/index.ts";
import type { LaunchServices } from "./services.ts";
import { locationOf, probeConversation } from "../conversations/probe.ts";

/** What was found on disk and among the processes for the session a worker was bound to, before anything is claimed. */
export interface ConversationProbe {
  conversationId: number | null;
  transcript: Transcript | null;
  holder: Holder | null;
  /** The vendor had lost it, and it was put back from custody. */
  restored: Restored | null;
  /** A copy of it is kept, and is what it should be: looked at only if there is a need. */
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
  // What its last run wrote is that run's proof: looked at before anybody writes more.
  await services.conversations.finalCheckDone(conversation.id);
  const [holder = null] = adapter.liveness.holders(locationOf(conversation), services.processes);
  const found = await services.custody.checkAgainstCopy(conversation, await probeConversation(services, conversation));
  const copy = found.state === "good" ? null : custodyOf(services.db, conversation.id);
  const restored =
    holder === null && isLost(services, conversation, found) ? await services.custody.restore(conversation) : null;
  const transcript = restored ? await probeConversation(services, conversation) : found;
  // Before the start: some vendors clear away conversations, others' too, when they begin.
  if (transcript.state === "good") await services.custody.updateCopy(conversation.id, transcript.file);
  return {
    conversationId: conversation.id,
    transcript,
    holder: holder && { ...holder, worker: ownerOf(services, holder.pid) },
    restored,
    hasCopy: copy !== null && (await services.custody.verifiedCopy(copy)) !== null,
  };
}

/** Gone, emptied, or cut off by a power cut, which a copy that was synced survives. What somebody changed is not lost. */
function isLost(services: LaunchServices, conversation: Conversation, transcript: Transcript): boolean {
  if (conversation.transcriptBytes === null) return false;
  if (transcript.state === "absent" || transcript.state === "empty") return true;
  const kept = custodyOf(services.db, conversation.id);
  const otherBoot = conversation.transcriptBoot !== services.processes.bootId();
  return (
    transcript.state === "good" && !transcript.shrinks && otherBoot && kept !== null && transcript.bytes < kept.bytes
  );
}

function ownerOf(services: LaunchServices, pid: number): string | undefined {
  const run = runById(services.db, services.processes.variable(pid, "PERDURE_RUN") ?? "");
  const ours = run && services.processes.variable(pid, "PERDURE_SOCKET") === services.paths.socket;
  return ours ? workerById(services.db, run.workerId)?.name : undefined;
}

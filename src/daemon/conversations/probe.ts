import type { SessionLocation, Transcript } from "../../protocol/records/conversation.ts";
import { programAsker } from "../../launch/ask-program.ts";
import type { Conversation } from "../../store/conversations.ts";
import { workerById } from "../../store/workers.ts";
import type { AskProgram } from "../../vendors/adapter.ts";
import { adapterOf } from "../../vendors/index.ts";
import type { BaseServices } from "../base-services.ts";

// What is on disk of a conversation, as the vendor's adapter sees it. Nothing here changes anything.

export function locationOf(conversation: Conversation): SessionLocation {
  return {
    vendor: conversation.vendor,
    id: conversation.vendorId,
    configDir: conversation.configDir,
    launchCwd: conversation.launchCwd,
  };
}

/** `lastSeen`: where its transcript was, if that is known by now. */
export async function probeConversation(
  services: Pick<BaseServices, "db">,
  conversation: Conversation,
  lastSeen: string | null = conversation.transcript,
): Promise<Transcript> {
  const adapter = adapterOf(conversation.vendor);
  if (adapter === null) return { state: "absent" };
  return adapter.storage.probe(locationOf(conversation), lastSeen, askProgramOf(services, conversation));
}

/** The vendor's program as the session's worker runs it, with the environment recorded for it. */
export function askProgramOf(services: Pick<BaseServices, "db">, conversation: Conversation): AskProgram {
  const worker = workerById(services.db, conversation.workerId);
  const adapter = adapterOf(conversation.vendor);
  const stored = worker?.vendor === conversation.vendor ? worker.command?.slice(0, (worker.programAt ?? 0) + 1) : null;
  return programAsker({
    command: stored ?? adapter?.command ?? [],
    cwd: conversation.launchCwd,
    environment: worker?.environment ?? {},
    variables: conversation.variables,
  });
}

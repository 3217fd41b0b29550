import type { SessionLocation, Transcript } from "../../protocol/records/conversation.ts";
import { asker } from "../../launch/ask-program.ts";
import type { Conversation } from "../../store/conversations.ts";
import { workerById } from "../../store/workers.ts";
import type { AskProgram } from "../../vendors/adapter.ts";
import { adapterOf } from "../../vendors/index.ts";
import type { BaseServices } from "../base-services.ts";

// What is on disk of a conversation, as the vendor's adapter sees it. Nothing here changes anything.

export function locationOf(session: Conversation): SessionLocation {
  return {
    vendor: session.vendor,
    id: session.vendorId,
    configDir: session.configDir,
    launchCwd: session.launchCwd,
  };
}

/** `lastSeen`: where its transcript was, if that is known by now. */
export async function probeConversation(
  services: Pick<BaseServices, "db">,
  session: Conversation,
  lastSeen: string | null = session.transcript,
): Promise<Transcript> {
  const adapter = adapterOf(session.vendor);
  if (adapter === null) return { state: "absent" };
  return adapter.storage.probe(locationOf(session), lastSeen, askProgramOf(services, session));
}

/** The vendor's program as the session's worker runs it, with the environment recorded for it. */
export function askProgramOf(services: Pick<BaseServices, "db">, session: Conversation): AskProgram {
  const worker = workerById(services.db, session.workerId);
  const adapter = adapterOf(session.vendor);
  const stored = worker?.vendor === session.vendor ? worker.command?.slice(0, (worker.programAt ?? 0) + 1) : null;
  return asker({
    command: stored ?? adapter?.command ?? [],
    cwd: session.launchCwd,
    environment: worker?.environment ?? {},
    variables: session.variables,
  });
}

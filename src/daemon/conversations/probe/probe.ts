import { basename, dirname } from "node:path";
import type { Holder, SessionLocation, Transcript } from "../../../protocol/records/conversation.ts";
import { programAsker, locateProgram, type ProgramContext, type LocatedProgram } from "../../../launch/ask-program.ts";
import { PI_SESSION_VARIABLE, PI_SESSIONS } from "../../../state/kept-pi-session.ts";
import type { Conversation } from "../../../store/conversations.ts";
import { workerById } from "../../../store/workers.ts";
import type { AskProgram } from "../../../vendors/adapter.ts";
import { adapterOf } from "../../../vendors/index.ts";
import type { BaseServices } from "../../base-services.ts";

// Looks, read only, at what is on disk of a conversation, through the vendor's adapter.

export function locationOf(conversation: Conversation): SessionLocation {
  return {
    vendor: conversation.vendor,
    id: conversation.vendorId,
    configDir: conversation.configDir,
    launchCwd: conversation.launchCwd,
  };
}

/** Returns the live processes that have a conversation open: those that its vendor shows, and whoever locks its file by `perdure pi-session`. */
export async function openersOf(
  { processes }: Pick<BaseServices, "processes">,
  conversation: Conversation,
): Promise<Holder[]> {
  const shown = (await adapterOf(conversation.vendor)?.liveness.holders(locationOf(conversation), processes)) ?? [];
  const { transcript } = conversation;
  if (transcript === null || basename(dirname(transcript)) !== PI_SESSIONS) return shown;
  const locking = processes.withVariable(PI_SESSION_VARIABLE, transcript);
  return [...shown, ...locking.map(({ pid }) => ({ pid, evidence: "it locks the Pi session file" }))];
}

/** Tells whether another process than this one has a conversation open. */
export async function isOpenElsewhere(
  services: Pick<BaseServices, "processes">,
  conversation: Conversation,
  own: number,
): Promise<boolean> {
  return (await openersOf(services, conversation)).some(({ pid }) => pid !== own);
}

/** Probes the transcript of a conversation. `lastSeen` is the last known path of the transcript. */
export async function probeConversation(
  services: Pick<BaseServices, "db" | "environments">,
  conversation: Conversation,
  lastSeen: string | null = conversation.transcript,
): Promise<Transcript> {
  const adapter = adapterOf(conversation.vendor);
  if (adapter === null) return { state: "absent" };
  return adapter.storage.probe(locationOf(conversation), lastSeen, askProgramOf(services, conversation));
}

/** Returns a way to ask the vendor's program, run as the conversation's worker runs it, with its recorded environment. */
export function askProgramOf(
  services: Pick<BaseServices, "db" | "environments">,
  conversation: Conversation,
): AskProgram {
  return programAsker(adapterOf(conversation.vendor), contextOf(services, conversation));
}

/** Returns the vendor's program as the conversation's worker runs it; null where there is none any more. */
export function vendorProgramOf(
  services: Pick<BaseServices, "db" | "environments">,
  conversation: Conversation,
): LocatedProgram | null {
  const program = locateProgram(contextOf(services, conversation));
  return "missing" in program ? null : program;
}

function contextOf(services: Pick<BaseServices, "db" | "environments">, conversation: Conversation): ProgramContext {
  const worker = workerById(services.db, conversation.workerId);
  const adapter = adapterOf(conversation.vendor);
  const stored = worker?.vendor === conversation.vendor ? worker.command?.slice(0, (worker.programAt ?? 0) + 1) : null;
  return {
    command: stored ?? adapter?.command ?? [],
    cwd: conversation.launchCwd,
    environment: services.environments.of(worker),
    variables: conversation.variables,
  };
}

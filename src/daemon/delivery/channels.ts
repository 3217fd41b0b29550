import { HOPS_MAX, WAKE_WINDOW_MS, WAKES_PER_HOUR } from "../../limits/index.ts";
import { lenientSettingsAt } from "../../project/config/lenient.ts";
import { conversationOfRun, type Conversation } from "../../store/conversations.ts";
import type { Message } from "../../store/messages.ts";
import { projectById } from "../../store/projects.ts";
import { runById, type Run } from "../../store/runs.ts";
import { countWakes } from "../../store/wakes.ts";
import { workerById, type Worker } from "../../store/workers.ts";
import { LAUNCH, type DeliveryFacet, type WakeChannel, type WakePlace } from "../../vendors/delivery.ts";
import { askProgramOf, vendorProgramOf } from "../conversations/probe/probe.ts";
import { pasteChannel } from "./paste.ts";
import { CALLED, WOKEN, type TakenPiece } from "./pieces.ts";
import type { DeliveryServices } from "./services.ts";

// The channels of one run: what they are called, how far they may be used, and where a vendor's code finds the program.

/** Says, for people, by which channel a piece was handed over. */
export function channelOf({ by, channel }: TakenPiece): string {
  if (by === CALLED) return "by a tool";
  if (by === WOKEN) return `by its ${channel ?? WOKEN}`;
  return by === LAUNCH ? "put into the conversation before the start" : `by its ${by} hook`;
}

/** Returns why mail must not begin a turn of the worker by itself any more; null if it may. */
export function boundReached(
  services: Pick<DeliveryServices, "db" | "mail">,
  workerId: number,
  queued: readonly Message[],
): string | null {
  if (queued.every(({ hops }) => hops > HOPS_MAX)) return `mail waits: ${HOPS_MAX} agents in a row woke each other`;
  const wakes = countWakes(services.db, workerId, services.mail.now() - WAKE_WINDOW_MS);
  return wakes < wakesPerHour(services, workerId) ? null : `mail waits: it was woken ${wakes} times in an hour`;
}

function wakesPerHour({ db }: Pick<DeliveryServices, "db">, workerId: number): number {
  const worker = workerById(db, workerId);
  const project = worker && projectById(db, worker.projectId);
  return (project && lenientSettingsAt(project.root).mail?.wakes_per_hour) ?? WAKES_PER_HOUR;
}

/** Returns where a vendor's code finds the running program of a run. */
export function wakePlaceOf(
  services: DeliveryServices,
  run: Run,
  worker: Worker,
  conversation: Conversation,
): WakePlace {
  return {
    runDir: services.runs.runDir(run.id),
    configDir: conversation.configDir,
    cwd: conversation.launchCwd,
    session: conversation.vendorId,
    pid: services.conversations.findAgent(run.id)?.pid ?? null,
    args: (worker.command ?? []).slice((worker.programAt ?? 0) + 1),
    program: () => vendorProgramOf(services, conversation),
    ask: askProgramOf(services, conversation),
  };
}

/** Returns the channel by which the agent can be woken; null where none is open. */
export function wakeChannelOf(
  services: DeliveryServices,
  { run, worker, conversation }: { run: Run; worker: Worker; conversation: Conversation },
  { wake, paste }: DeliveryFacet,
): WakeChannel | null {
  if (wake && wake.isOpen?.(wakePlaceOf(services, run, worker, conversation)) !== false) return wake;
  const hasPane = runById(services.db, run.id)?.pane != null;
  return paste && hasPane ? pasteChannel(services.terminals, run.id, paste) : null;
}

/** Takes a piece back that waits in a channel of the vendor's. One that cannot be taken back may be seen twice, and is told of. */
export async function withdrawPiece(
  services: DeliveryServices,
  run: Run,
  { wake }: DeliveryFacet,
  { by, session }: TakenPiece,
): Promise<void> {
  const worker = workerById(services.db, run.workerId);
  const conversation = conversationOfRun(services.db, run.id);
  if (by !== WOKEN || !wake?.withdraw || !worker || !conversation) return;
  try {
    await wake.withdraw({ ...wakePlaceOf(services, run, worker, conversation), session });
  } catch (error) {
    services.log(`the mail in the ${wake.name} of ${run.id} stays there: ${String(error)}`);
  }
}

import { nextTurn, type NextTurn } from "../../core/next-turn.ts";
import { HOPS_MAX, PIECE_BYTES_MAX, PIECE_MESSAGES_MAX, TURN_QUEUE_READ, TURNS_WINDOW_MS } from "../../limits/index.ts";
import type { TurnSettings } from "../../project/config/turn-settings.ts";
import { queuedMessages, type Message } from "../../store/messages.ts";
import { countTurnsOfProject, countTurnsOfWorker } from "../../store/turns.ts";
import { fleetSettingsOf, isTurnWorker, type Worker } from "../../store/workers.ts";
import { mayActivate } from "./activation.ts";
import type { TurnServices } from "./services.ts";

/** A turn that should begin, or the bound that keeps it from that. */
export type DueTurn = { kind: "turn"; next: NextTurn } | { kind: "bound"; reason: string };

/**
 * Finds out what the worker's mail asks for; null if nothing that waits begins a turn. `requested` are messages for which the operator has
 * asked for a turn, of a worker of any mode.
 */
export function dueTurn(
  services: Pick<TurnServices, "db" | "mail">,
  worker: Worker,
  requested: ReadonlySet<string>,
  { perHour }: Pick<TurnSettings, "perHour">,
): DueTurn | null {
  const isRequested = ({ id }: Pick<Message, "id">): boolean => requested.has(id);
  const isDue = (message: Message): boolean =>
    isRequested(message) || (isTurnWorker(worker) && mayActivate(services, worker, message));
  const { next, queued } = firstDue(services, worker, isDue);
  if (next === null) return null;
  const reason = requested.has(next.ask ?? "") ? null : boundReached(services, worker, next, queued, perHour);
  if (reason === null) return { kind: "turn", next };
  // What the operator asks for is not held by a bound, and so it does not wait behind mail that is.
  const asked = nextOf(worker, queued, isRequested);
  return asked === null ? { kind: "bound", reason } : { kind: "turn", next: asked };
}

function nextOf(
  worker: Worker,
  queued: readonly Message[],
  mayActivateTurn: (message: Message) => boolean,
): NextTurn | null {
  return nextTurn(
    queued.map((message) => ({
      id: message.id,
      expectsReply: message.expectsReply,
      isReply: message.replyTo !== null,
      mayActivate: mayActivateTurn(message),
      bytes: Buffer.byteLength(message.body),
    })),
    {
      plainActivates: fleetSettingsOf(worker).activate !== "ask",
      messagesMax: PIECE_MESSAGES_MAX,
      bytesMax: PIECE_BYTES_MAX,
    },
  );
}

/**
 * Reads the mailbox up to where a turn can be decided on. Mail of those who may begin none waits there for good, as much as a mailbox
 * holds, and others' mail behind it.
 */
function firstDue(
  { db }: Pick<TurnServices, "db">,
  worker: Worker,
  isDue: (message: Message) => boolean,
): { next: NextTurn | null; queued: Message[] } {
  const queued: Message[] = [];
  for (let after = 0; ;) {
    const page = queuedMessages(db, worker.projectId, worker.id, TURN_QUEUE_READ, after);
    // Of more than any turn is told, only the next question counts.
    const isTold = (message: Message): boolean => queued.length < TURN_QUEUE_READ || message.expectsReply;
    queued.push(...page.filter((message) => isTold(message) && (message.replyTo !== null || isDue(message))));
    const next = nextOf(worker, queued, isDue);
    const last = page.at(-1);
    if (next !== null || last === undefined || page.length < TURN_QUEUE_READ) return { next, queued };
    after = last.seq;
  }
}

function boundReached(
  { db, mail }: Pick<TurnServices, "db" | "mail">,
  worker: Worker,
  { messages }: NextTurn,
  queued: readonly Message[],
  perHour: TurnSettings["perHour"],
): string | null {
  const told = queued.filter(({ id }) => messages.includes(id));
  if (told.every(({ hops }) => hops > HOPS_MAX)) return `mail waits: ${HOPS_MAX} agents in a row woke each other`;
  const fromMs = mail.now() - TURNS_WINDOW_MS;
  const own = countTurnsOfWorker(db, worker.id, fromMs);
  if (own >= perHour.worker) return `mail waits: it had ${own} turns in an hour`;
  const all = countTurnsOfProject(db, worker.projectId, fromMs);
  return all >= perHour.project ? `mail waits: its project had ${all} turns in an hour` : null;
}

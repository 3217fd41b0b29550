import { after, type MailEvent } from "../../core/mail.ts";
import { ON_THE_WAY, type MailState } from "../../protocol/records/mail.ts";
import { resetDelivery, changeMessage, offersOf, onTheWay, unansweredFor, type Message } from "../../store/messages.ts";
import { LIST_ROWS_MAX } from "../../limits/index.ts";
import { record, type House } from "../services.ts";
import { askKey, boxKey } from "./keys.ts";

type Store = Pick<House, "db" | "now" | "mail">;

interface By {
  run: string | null;
  reason?: string | null;
  /** Of the run a message is offered to. */
  generation?: number;
}

// What becomes of a message. Everything here runs inside a change.

/** False when it is too late for that: nothing is changed. */
export function settle(house: Store, message: Message, event: MailEvent, by: By): boolean {
  const state = after(message.state, event);
  if (state === null) return false;
  const change = { state, nowMs: house.mail.now(), run: by.run, reason: by.reason ?? null };
  changeMessage(house.db, message.seq, change, by.generation ?? null);
  if (event === "redeliver") resetDelivery(house.db, message.seq);
  count(house, message, state);
  const subject = {
    projectId: message.projectId,
    ...(message.toWorker === null ? {} : { workerId: message.toWorker }),
    ...(by.run === null ? {} : { run: by.run }),
  };
  record(house, `mail.${state}`, subject, { id: message.id, ...(by.reason ? { reason: by.reason } : {}) });
  if (state === "queued") house.mail.tell(boxKey(message.projectId, message.toWorker));
  house.mail.tell(askKey(message.id));
  return true;
}

function count(house: Store, { projectId: project, toWorker: to, state: before, body }: Message, now: MailState): void {
  const change = Number(ON_THE_WAY.has(now)) - Number(ON_THE_WAY.has(before));
  if (change !== 0) house.db.mailboxCounters.add(project, to, change, change * Buffer.byteLength(body));
}

/** Its run is over, or lost its name: what it was offered is offered to the next one. */
export function returnOffers(house: Store, runId: string): void {
  for (const message of offersOf(house.db, runId)) {
    // What the model has seen is not offered again: it may have acted on it.
    if (message.state === "injected") settle(house, message, "read", { run: runId, reason: "its run ended" });
    else settle(house, message, "return", { run: runId, reason: "its run ended first" });
  }
}

/** A worker that is gone for good reads nothing any more. */
export function bury(house: Store, projectId: number, workerId: number, reason: string): void {
  for (;;) {
    const left = [
      ...onTheWay(house.db, projectId, workerId, LIST_ROWS_MAX),
      // Read, and never to be answered.
      ...unansweredFor(house.db, projectId, workerId, LIST_ROWS_MAX).filter(({ state }) => state === "read"),
    ];
    if (left.length === 0) return;
    for (const message of left) settle(house, message, "die", { run: null, reason });
  }
}

import { PerdureError } from "../../protocol/errors.ts";
import { hintOf, verb } from "../../protocol/hint.ts";
import { formatAddress } from "../../protocol/names.ts";
import { OPERATOR, type MailStep, type MessageRecord } from "../../protocol/records/mail.ts";
import { storeUid } from "../../store/meta.ts";
import { messageById, messagesByIdPrefix, stepsOf, type Message } from "../../store/messages.ts";
import { projectById } from "../../store/projects.ts";
import { workerById } from "../../store/workers.ts";
import { iso } from "../../util/iso.ts";
import type { BaseServices } from "../base-services.ts";
import { assertIntact } from "./integrity.ts";
import { messageUid } from "./message-ids.ts";

export function describeMessage(services: Pick<BaseServices, "db">, message: Message): MessageRecord {
  const worker = message.toWorker === null ? null : workerById(services.db, message.toWorker);
  const project = projectById(services.db, message.projectId);
  assertIntact(message);
  return {
    id: message.id,
    uid: messageUid(services, message.id),
    seq: message.seq,
    from: message.fromName,
    to: worker && project ? formatAddress(project.slug, worker.name) : OPERATOR,
    body: message.body,
    state: message.state,
    attempt: message.attempt,
    createdAt: iso(message.createdMs),
    expiresAt: message.expiresMs === null ? null : iso(message.expiresMs),
    replyTo: message.replyTo,
    expectsReply: message.expectsReply,
    attachments: [...message.attachments],
  };
}

/** Lists every state of the message, with the time and the run that caused it. */
export function describeSteps(services: Pick<BaseServices, "db">, message: Message): MailStep[] {
  const first: MailStep = { state: "queued", at: iso(message.createdMs), run: message.fromRun, reason: null };
  const later = stepsOf(services.db, message.seq).map(({ state, atMs: at, runId: run, reason }) => {
    return { state, at: iso(at), run, reason };
  });
  return [first, ...later];
}

/** Returns the message with this id, or with an id that uniquely begins like this. */
export function findMessage(services: Pick<BaseServices, "db">, idOrStart: string): Message {
  const own = `${storeUid(services.db)}.`;
  if (idOrStart.startsWith(own)) return findMessage(services, idOrStart.slice(own.length));
  const exact = messageById(services.db, idOrStart);
  if (exact) return exact;
  const [only, another] = messagesByIdPrefix(services.db, idOrStart);
  if (only && !another) return only;
  if (only && another) {
    throw new PerdureError("usage", `${idOrStart} is the beginning of several message ids.`, {
      hint: `give more of the id: ${only.id}, ${another.id}`,
    });
  }
  throw new PerdureError("not-found", `There is no message ${JSON.stringify(idOrStart)}.`, {
    hint: hintOf`it may be too old to be kept; ${verb("mail", "--state", "all")} lists the messages`,
  });
}

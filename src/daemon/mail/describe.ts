import { OPERATOR, type MailStep, type MessageRecord } from "../../protocol/records/mail.ts";
import { stepsOf, type Message } from "../../store/messages.ts";
import { projectById } from "../../store/projects.ts";
import { workerById } from "../../store/workers.ts";
import { iso } from "../names/describe.ts";
import type { House } from "../services.ts";
import { assertWhole } from "./integrity.ts";

export function describeMessage(house: Pick<House, "db">, message: Message): MessageRecord {
  const worker = message.toWorker === null ? null : workerById(house.db, message.toWorker);
  const project = projectById(house.db, message.projectId);
  assertWhole(message);
  return {
    id: message.id,
    seq: message.seq,
    from: message.fromName,
    to: worker && project ? `${project.slug}/${worker.name}` : OPERATOR,
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

/** Every state it was in, with the time and the run that brought it there. */
export function describeSteps(house: Pick<House, "db">, message: Message): MailStep[] {
  const first: MailStep = { state: "queued", at: iso(message.createdMs), run: message.fromRun, reason: null };
  const later = stepsOf(house.db, message.seq).map(({ state, atMs: at, runId: run, reason }) => {
    return { state, at: iso(at), run, reason };
  });
  return [first, ...later];
}

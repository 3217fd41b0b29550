import { OPERATOR, type Attachment, type MailStep, type MessageRecord } from "../../protocol/records/mail.ts";
import { stepsOf, type MessageRow } from "../../store/messages.ts";
import { projectById } from "../../store/projects.ts";
import { workerById } from "../../store/workers.ts";
import { iso } from "../names/describe.ts";
import type { House } from "../services.ts";
import { assertWhole } from "./integrity.ts";

export function describeMessage(house: Pick<House, "db">, message: MessageRow): MessageRecord {
  const worker = message.to_worker === null ? null : workerById(house.db, message.to_worker);
  const project = projectById(house.db, message.project_id);
  const attachments = message.attachments === null ? [] : (JSON.parse(message.attachments) as Attachment[]);
  assertWhole(message, attachments);
  return {
    id: message.id,
    seq: message.seq,
    from: message.from_name,
    to: worker && project ? `${project.slug}/${worker.name}` : OPERATOR,
    body: message.body,
    state: message.state,
    attempt: message.attempt,
    createdAt: iso(message.created_ms),
    expiresAt: message.expires_ms === null ? null : iso(message.expires_ms),
    replyTo: message.reply_to,
    expectsReply: message.expects_reply === 1,
    attachments,
  };
}

/** Every state it was in, with the time and the run that brought it there. */
export function describeSteps(house: Pick<House, "db">, message: MessageRow): MailStep[] {
  const first: MailStep = { state: "queued", at: iso(message.created_ms), run: message.from_run, reason: null };
  const later = stepsOf(house.db, message.seq).map(({ state, at_ms: at, run_id: run, reason }) => {
    return { state, at: iso(at), run, reason };
  });
  return [first, ...later];
}

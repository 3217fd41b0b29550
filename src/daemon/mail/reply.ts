import { LIST_ROWS_MAX } from "../../limits/index.ts";
import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { hintOf, verb } from "../../protocol/hint.ts";
import { formatAddress } from "../../protocol/names.ts";
import { isFileSender, OPERATOR } from "../../protocol/records/mail.ts";
import { projectById } from "../../store/projects.ts";
import { messageById, unansweredMessages, type Message } from "../../store/messages.ts";
import { workerById } from "../../store/workers.ts";
import { requirePresent } from "../../util/require-present.ts";
import type { Actor } from "../permissions/actor.ts";
import type { Admitted } from "../../protocol/records/mail.ts";
import { admit, type MailDraft } from "./admit.ts";
import { withAttachments } from "./attachments.ts";
import { findMessage } from "./describe.ts";
import { askKey } from "./mailbox-change.ts";
import { projectFor, type Recipient } from "./recipients.ts";
import { assertNotNested, senderOf, type Sender } from "./sender.ts";
import { transition } from "./transition.ts";
import type { MailServices } from "./services.ts";

/** Replies to the sender of a message; a reply to a sender that is not running waits for its next run. */
export async function replyToSender(
  services: MailServices,
  actor: Actor,
  params: CallParams<"reply">,
): Promise<CallResults["reply"]> {
  const id = params.messageId ?? services.mail.mintId();
  return withAttachments(services, id, params.attach, (attachments) =>
    services.writer.write(() => {
      const sender = senderOf(services, actor, params);
      assertNotNested(params, sender);
      const original = repliedMessage(services, sender, params);
      const reply = { id, isFirst: params.messageId === null, body: params.body, attachments };
      return { ...replyTo(services, sender, original, reply), replyTo: original.id };
    }),
  );
}

/** Sends the reply to a message, inside a change, and settles the message. */
export function replyTo(
  services: MailServices,
  sender: Sender,
  original: Message,
  reply: Pick<MailDraft, "id" | "isFirst" | "body" | "attachments">,
): Admitted {
  const admitted = admit(services, sender, askerOf(services, original), {
    ...reply,
    expiresMs: null,
    supersedes: null,
    replyTo: original.id,
    expectsReply: false,
    waits: false,
  });
  // What waits for a hook would come as new mail after it was answered.
  services.mail.recall(original.toWorker);
  const answered = messageById(services.db, original.id) ?? original;
  if (!admitted.again) transition(services, answered, "answer", { run: sender.run?.id ?? null });
  services.mail.notify(askKey(original.id));
  return admitted;
}

/** Returns the message to reply to: the one that was named, or the only one that expects a reply. */
function repliedMessage(services: MailServices, sender: Sender, params: CallParams<"reply">): Message {
  const project = projectFor(services, sender, params);
  const to = sender.worker?.id ?? null;
  const sent = params.messageId === null ? null : messageById(services.db, params.messageId);
  const before = sent?.replyTo ? messageById(services.db, sent.replyTo) : null;
  // The reply was sent before and the answer was lost: it goes to the same message again.
  if (before !== null && params.id === null && before.toWorker === to) return before;
  if (params.id !== null) {
    const found = findMessage(services, params.id);
    if (found.toWorker === to && (to !== null || found.projectId === project.id)) return found;
    throw notTheReader(services, found, sender);
  }
  const [only, another] = unansweredMessages(services.db, project.id, to, LIST_ROWS_MAX);
  if (only && !another) return only;
  if (!only) {
    throw new PerdureError("not-found", `No message to ${sender.name} waits for a reply.`, { hint: verb("inbox") });
  }
  throw new PerdureError("usage", "Several messages wait for a reply; give an ID.", {
    hint: hintOf`${verb("pending")}; then: ${verb("reply", "ID", "TEXT")}`,
  });
}

/** Says who is to answer a message: most often its sender has tried to. */
function notTheReader({ db }: MailServices, { id, toWorker, projectId }: Message, { name }: Sender): PerdureError {
  const [reader, project] = [toWorker === null ? null : workerById(db, toWorker), projectById(db, projectId)];
  const to = reader === null || project === null ? OPERATOR : formatAddress(project.slug, reader.name);
  return new PerdureError("refused", `${id} was sent to ${to}, not to ${name}: ${to} has to reply.`, {
    hint: hintOf`what became of it: ${verb("mail", id)}; what waits for you: ${verb("pending")}`,
  });
}

function askerOf(services: MailServices, original: Message): Recipient {
  if (isFileSender(original.fromName)) {
    throw new PerdureError("refused", `${original.id} was a file, and nobody reads a reply to it.`, {
      hint: hintOf`to whoever you think wrote it: ${verb("send", "NAME", "TEXT")}`,
    });
  }
  const project = requirePresent(projectById(services.db, original.projectId), `the project of message ${original.id}`);
  const worker = original.fromWorker === null ? null : workerById(services.db, original.fromWorker);
  if (worker?.retiredMs != null) {
    throw new PerdureError("not-found", `${original.fromName} was retired, so nobody would read the reply.`, {
      hint: verb("mail", original.id),
    });
  }
  return { project, worker, renamedFrom: null };
}

import { BOX_BYTES_MAX, BOX_MESSAGES_MAX, MESSAGE_BYTES_MAX } from "../../limits/index.ts";
import { findWaitCycle } from "../../core/mail.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { formatAddress } from "../../protocol/names.ts";
import { OPERATOR, type Admitted, type Attachment } from "../../protocol/records/mail.ts";
import { insertMessage, messageById, type Message } from "../../store/messages.ts";
import type { MailboxCount } from "../../store/mailbox-counters.ts";
import { workerById } from "../../store/workers.ts";
import { recordEvent } from "../events.ts";
import type { MailServices } from "./services.ts";
import { digestOf } from "./integrity.ts";
import { mailboxKey } from "./waiting.ts";
import type { Recipient } from "./recipients.ts";
import { isSentBy, type Sender } from "./sender.ts";
import { transition } from "./transition.ts";

export interface MailDraft {
  id: string;
  /** The id was made for it just now, so nothing was ever sent under it. */
  isFirst: boolean;
  body: string;
  expiresMs: number | null;
  /** An earlier message of the same sender to the same reader that this one stands for. */
  supersedes: string | null;
  replyTo: string | null;
  expectsReply: boolean;
  /** Its sender waits for the answer. */
  waits: boolean;
  attachments: Attachment[];
}

/**
 * Inside a change. On disk before it is answered; the same id once more is the same message. Whatever speaks against it is
 * said before anything is changed.
 */
export function admit(services: MailServices, sender: Sender, recipient: Recipient, draft: MailDraft): Admitted {
  const { project, worker, renamedFrom } = recipient;
  const to = worker ? formatAddress(project.slug, worker.name) : OPERATOR;
  const digest = digestOf({
    id: draft.id,
    from: sender.worker?.id ?? null,
    project: project.id,
    to: worker?.id ?? null,
    body: draft.body,
    replyTo: draft.replyTo,
    expectsReply: draft.expectsReply,
    attachments: draft.attachments,
  });
  const known = draft.isFirst ? null : messageById(services.db, draft.id);
  if (known) return repeated(known, digest, to, renamedFrom);
  const bytes = Buffer.byteLength(draft.body);
  assertRoom(services.db.mailboxCounters.count(project.id, worker?.id ?? null), bytes, to, worker?.name ?? null);
  assertSendRate(services, sender);
  if (draft.waits) assertNoWaitCycle(services, sender, recipient, to);
  if (draft.supersedes !== null) supersede(services, sender, recipient, draft.supersedes);
  const nowMs = services.mail.now();
  const seq = insertMessage(services.db, {
    id: draft.id,
    projectId: project.id,
    toWorker: worker?.id ?? null,
    fromWorker: sender.worker?.id ?? null,
    fromName: sender.name,
    fromRun: sender.run?.id ?? null,
    body: draft.body,
    digest,
    createdMs: nowMs,
    expiresMs: draft.expiresMs,
    replyTo: draft.replyTo,
    expectsReply: draft.expectsReply,
    attachments: draft.attachments,
  });
  services.db.mailboxCounters.add(project.id, worker?.id ?? null, 1, bytes);
  const subject = { projectId: project.id, ...(worker ? { workerId: worker.id } : {}) };
  recordEvent(services, "mail.queued", subject, { id: draft.id, from: sender.name });
  services.mail.notify(mailboxKey(project.id, worker?.id ?? null));
  return { id: draft.id, to, state: "queued", seq, renamedFrom, again: false };
}

function repeated(known: Message, digest: string, to: string, renamedFrom: string | null): Admitted {
  if (known.digest === digest) {
    return { id: known.id, to, state: known.state, seq: known.seq, renamedFrom, again: true };
  }
  throw new PerdureError("conflict", `The id ${known.id} was used for another message.`, {
    hint: `choose another id; that one: perdure mail ${known.id}`,
    details: { id: known.id, state: known.state },
  });
}

function assertRoom(before: MailboxCount, bytes: number, to: string, reader: string | null): void {
  if (bytes > MESSAGE_BYTES_MAX) {
    throw new PerdureError("usage", `The message has ${bytes} bytes; at most ${MESSAGE_BYTES_MAX} are taken.`, {
      hint: "send it as a file: --attach FILE",
    });
  }
  if (before.messages < BOX_MESSAGES_MAX && before.bytes + bytes <= BOX_BYTES_MAX) return;
  throw new PerdureError("full", `The box of ${to} is full: ${before.messages} messages, ${before.bytes} bytes.`, {
    hint: reader ? `it has to read them: perdure run ${reader}, perdure inbox ${reader}` : "perdure inbox",
    details: { ...before },
  });
}

function assertSendRate(services: MailServices, { worker, name }: Sender): void {
  const waitMs = worker === null ? 0 : services.mail.waitBeforeSending(worker.id);
  if (waitMs === 0) return;
  throw new PerdureError("too-fast", `${name} sends faster than is taken from one worker.`, {
    hint: `wait ${Math.ceil(waitMs)} ms, then send it again`,
    details: { waitMs: Math.ceil(waitMs) },
  });
}

function assertNoWaitCycle(services: MailServices, sender: Sender, { worker }: Recipient, to: string): void {
  const cycle = findWaitCycle(sender.worker?.id ?? null, worker?.id ?? null, services.mail.waiting);
  if (cycle === null) return;
  throw waitCycleError(services, cycle.ask, cycle.from, to);
}

function waitCycleError(services: MailServices, ask: string, from: number | null, to: string): PerdureError {
  const who = from === null ? OPERATOR : (workerById(services.db, from)?.name ?? "somebody");
  const asked = messageById(services.db, ask);
  return new PerdureError("conflict", `${who} waits for an answer itself (${ask}): both of you would wait for ever.`, {
    hint: `answer first: perdure reply ${ask} TEXT; or send without waiting: perdure send ${to} TEXT`,
    details: { ask, body: asked?.body },
  });
}

function supersede(services: MailServices, sender: Sender, { project, worker }: Recipient, id: string): void {
  const old = messageById(services.db, id);
  const theirs = old !== null && isSentBy(sender, old) && old.toWorker === (worker?.id ?? null);
  if (!theirs || old.projectId !== project.id) {
    throw new PerdureError("not-found", `There is no message ${id} of yours to the same reader.`, {
      hint: "perdure mail ID",
    });
  }
  if (transition(services, old, "supersede", { run: sender.run?.id ?? null, reason: "a later message stands for it" }))
    return;
  throw new PerdureError("conflict", `It is too late to supersede ${id}: it is ${old.state}.`, {
    hint: "send without --supersedes",
  });
}

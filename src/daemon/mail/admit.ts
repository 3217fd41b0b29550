import { nextState } from "../../core/mail.ts";
import { MAILBOX_BYTES_MAX, MAILBOX_MESSAGES_MAX, SENDER_PER_SECOND } from "../../limits/index.ts";
import { findWaitCycle } from "../../core/ask-cycle.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { hintOf, toHint, verb } from "../../protocol/hint.ts";
import { formatAddress } from "../../protocol/names.ts";
import {
  checkMessageText,
  OPERATOR,
  type Admitted,
  type Attachment,
  type MailOutlook,
} from "../../protocol/records/mail.ts";
import { commandForNeed } from "../../protocol/records/needs.ts";
import { insertMessage, messageById } from "../../store/messages.ts";
import { hopsOfRun } from "../../store/wakes.ts";
import type { MailboxCount } from "../../store/mailbox-counters.ts";
import { workerById, type Worker } from "../../store/workers.ts";
import { recordEvent } from "../events.ts";
import type { MailServices } from "./services.ts";
import { digestOfMessage } from "./integrity.ts";
import { assertSameMessage, messageUid } from "./message-ids.ts";
import { mailboxKey, OPERATOR_MAIL_KEY } from "./mailbox-change.ts";
import type { Recipient } from "./recipients.ts";
import { isSentBy, type Sender } from "./sender.ts";
import { transition } from "./transition.ts";

export interface MailDraft {
  id: string;
  /** The id was just minted, so no message was ever sent under it. */
  isFirst: boolean;
  body: string;
  expiresMs: number | null;
  /** The id of an earlier message, of the same sender to the same reader, that this one supersedes. */
  supersedes: string | null;
  replyTo: string | null;
  expectsReply: boolean;
  /** The sender waits for the answer. */
  waits: boolean;
  attachments: Attachment[];
  /** The hops of a message that no run sends; those of one that a run sends follow from what the run acts on. */
  hops?: number;
}

/**
 * Admits a message inside a change, so that it is on disk before the sender is answered. The same id again is the same
 * message. All refusals come before anything is changed.
 */
export function admit(services: MailServices, sender: Sender, recipient: Recipient, draft: MailDraft): Admitted {
  const { project, worker, renamedFrom } = recipient;
  const bytes = checkMessageText(draft.body);
  const to = worker ? formatAddress(project.slug, worker.name) : OPERATOR;
  const outlook = worker === null ? null : services.mail.outlookOf(worker.id);
  const need = worker === null || outlook === null ? {} : needOfReader(worker, outlook, to);
  const digest = digestOfMessage({
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
  if (known) {
    assertSameMessage(known, digest);
    const uid = messageUid(services, known.id);
    return { id: known.id, uid, to, state: known.state, seq: known.seq, renamedFrom, again: true, outlook, ...need };
  }
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
    hops: sender.run === null ? (draft.hops ?? 0) : hopsOfRun(services.db, sender.run.id) + 1,
  });
  services.db.mailboxCounters.add(project.id, worker?.id ?? null, 1, bytes);
  const subject = {
    projectId: project.id,
    ...(worker ? { workerId: worker.id } : {}),
    ...(sender.run ? { run: sender.run.id } : {}),
  };
  recordEvent(services, "mail.queued", subject, { id: draft.id, from: sender.name });
  services.mail.notify(mailboxKey(project.id, worker?.id ?? null));
  if (worker === null) services.mail.notify(OPERATOR_MAIL_KEY);
  const uid = messageUid(services, draft.id);
  return { id: draft.id, uid, to, state: "queued", seq, renamedFrom, again: false, outlook, ...need };
}

/** Tells what keeps a reader without a process from starting by itself, so that the message would wait for good. */
function needOfReader({ onHold, unresumable }: Worker, outlook: MailOutlook, address: string): Pick<Admitted, "need"> {
  if (outlook !== "at its next start" && outlook !== "when a person has looked at it") return {};
  if (onHold === null && unresumable === null) return {};
  const state = unresumable === null ? (onHold?.state ?? "on-hold") : "unresumable";
  const reason = unresumable ?? onHold?.reason ?? "";
  const command = commandForNeed({ state, mode: "tmux", run: null, attention: reason }, address);
  return { need: { state, reason, next: toHint((unresumable === null ? onHold?.next : null) ?? command) } };
}

function assertRoom(before: MailboxCount, bytes: number, to: string, reader: string | null): void {
  if (before.messages < MAILBOX_MESSAGES_MAX && before.bytes + bytes <= MAILBOX_BYTES_MAX) return;
  const has = `${before.messages} messages, ${before.bytes} bytes`;
  const limits = `${MAILBOX_MESSAGES_MAX} messages or ${MAILBOX_BYTES_MAX} bytes`;
  throw new PerdureError("full", `The mailbox of ${to} is full: it has ${has}; the limit is ${limits}.`, {
    hint: reader
      ? hintOf`the worker has to read them: ${verb("run", reader)}, ${verb("inbox", reader)}`
      : verb("inbox"),
    details: { ...before },
  });
}

function assertSendRate(services: MailServices, { worker, name }: Sender): void {
  const waitMs = worker === null ? 0 : services.mail.waitBeforeSending(worker.id);
  if (waitMs === 0) return;
  throw new PerdureError("too-fast", `${name} exceeded the send rate (${SENDER_PER_SECOND}/s).`, {
    hint: `wait ${Math.ceil(waitMs)} ms, then send it again`,
    details: { waitMs: Math.ceil(waitMs) },
  });
}

function assertNoWaitCycle(services: MailServices, sender: Sender, { worker }: Recipient, to: string): void {
  if (sender.worker !== null && sender.worker.id === worker?.id) {
    throw new PerdureError("conflict", `${sender.name} asks itself, and cannot answer while it waits.`, {
      hint: verb("send", to, "TEXT"),
    });
  }
  const cycle = findWaitCycle(sender.worker?.id ?? null, worker?.id ?? null, services.mail.waiting);
  if (cycle === null) return;
  throw waitCycleError(services, cycle.ask, cycle.from, to);
}

function waitCycleError(services: MailServices, ask: string, from: number | null, to: string): PerdureError {
  const waitingName = from === null ? OPERATOR : (workerById(services.db, from)?.name ?? "somebody");
  const askMessage = messageById(services.db, ask);
  return new PerdureError(
    "conflict",
    `${waitingName} is waiting for an answer to ${ask}, so both of you would wait forever.`,
    {
      hint: hintOf`answer first: ${verb("reply", ask, "TEXT")}; or send without waiting: ${verb("send", to, "TEXT")}`,
      details: { ask, body: askMessage?.body },
    },
  );
}

function supersede(services: MailServices, sender: Sender, { project, worker }: Recipient, id: string): void {
  const old = messageById(services.db, id);
  const isOwn = old !== null && isSentBy(sender, old) && old.toWorker === (worker?.id ?? null);
  if (!isOwn || old.projectId !== project.id) {
    throw new PerdureError("not-found", `You sent no message ${id} to this recipient.`, {
      hint: verb("mail", "ID"),
    });
  }
  if (nextState(old.state, "supersede") === null) {
    throw new PerdureError("conflict", `It is too late to supersede ${id}: it is ${old.state}.`, {
      hint: "send without --supersedes",
    });
  }
  // Only now: a refusal would undo the record of what hooks have taken.
  services.mail.recall(old.toWorker);
  const run = sender.run?.id ?? null;
  transition(services, messageById(services.db, id) ?? old, "supersede", {
    run,
    reason: "superseded by a later message",
  });
}

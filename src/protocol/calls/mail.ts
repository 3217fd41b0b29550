import * as z from "zod/mini";
import { FRAME_BYTES_MAX, IN_HAND_MAX, OFFERS_PER_CALL, RECIPIENTS_MAX } from "../../limits/index.ts";
import {
  MAIL_STATES,
  type Admitted,
  type AskProgress,
  type MailState,
  type MailStep,
  type MessageRecord,
} from "../records/mail.ts";
import { typeOnly, type CallTable } from "./entry.ts";
import { attachedFiles, body, limit, messageId, name, onBehalf, projectRef, target, waitMs, whole } from "./shapes.ts";

const ttlMs = z.nullable(whole(1, Number.MAX_SAFE_INTEGER));
/** Names in the project's file: they can be mailed before they ever ran. */
const declared = z.array(name).check(z.maxLength(RECIPIENTS_MAX));
const mailbox = { ...onBehalf, here: projectRef, project: z.nullable(name) };

/** Mail to workers and to the operator. */
export const mailCalls = {
  send: {
    params: z.strictObject({
      ...mailbox,
      to: z.array(name).check(z.maxLength(RECIPIENTS_MAX)),
      /** To every worker of the project, instead. */
      all: z.boolean(),
      body,
      id: z.nullable(messageId),
      ttlMs,
      supersedes: z.nullable(messageId),
      expectsReply: z.boolean(),
      attach: attachedFiles,
      declared,
    }),
    result: typeOnly<{ messages: Admitted[] }>(),
    agentsMay: "send",
    changes: true,
  },
  ask: {
    params: z.strictObject({
      ...mailbox,
      to: name,
      body,
      id: messageId,
      ttlMs,
      attach: attachedFiles,
      declared,
      waitMs,
      /** Makes a turn for it, whatever the mode of the worker; only the operator may ask for that. */
      turn: z.optional(z.literal(true)),
      /** Sends what the turn shows, as items, while the answer is waited for. */
      progress: z.optional(z.literal(true)),
    }),
    result: typeOnly<{ id: string; reply: MessageRecord }>(),
    item: typeOnly<AskProgress>(),
    agentsMay: "ask",
    changes: true,
  },
  /** Answers the message of this id; without one, the only message that waits for an answer. */
  reply: {
    params: z.strictObject({
      ...mailbox,
      id: z.nullable(messageId),
      body,
      messageId: z.nullable(messageId),
      attach: attachedFiles,
    }),
    result: typeOnly<Admitted & { replyTo: string }>(),
    agentsMay: "reply",
    changes: true,
  },
  /** Offers the next messages to the caller, who acknowledges each with `ack`; waits for one if there is none. */
  takeMail: {
    params: z.strictObject({
      ...mailbox,
      max: whole(1, OFFERS_PER_CALL),
      /** The bytes of all messages together, as JSON; the first one comes however long it is. */
      bytesMax: z.optional(whole(1, FRAME_BYTES_MAX)),
      waitMs,
      /** The messages that arrived and are not acknowledged, sent after an answer was lost: other offers come again, first. */
      inHand: z.optional(z.array(messageId).check(z.maxLength(IN_HAND_MAX))),
    }),
    result: typeOnly<{ messages: MessageRecord[] }>(),
    agentsMay: "inbox",
    changes: true,
  },
  /** Has no policy word of its own: it only concerns messages that `takeMail` or `ask` handed out. */
  ack: {
    params: z.strictObject({
      ...onBehalf,
      ids: z.array(messageId).check(z.maxLength(OFFERS_PER_CALL)),
      how: z.enum(["read", "injected"]),
    }),
    result: typeOnly<{ acked: string[]; missed: string[] }>(),
    agentsMay: true,
    changes: true,
  },
  /** Lists the messages of a mailbox and leaves them where they are. */
  peekMail: {
    params: z.strictObject({ ...mailbox, target: z.nullable(target), all: z.boolean(), limit }),
    result: typeOnly<{ count: number; paused: boolean }>(),
    item: typeOnly<MessageRecord>(),
    agentsMay: "inbox",
    changes: false,
  },
  /** Lists the messages of a project, to whomever, that are in one of these states: the newest of them, oldest first. */
  listMail: {
    params: z.strictObject({
      here: projectRef,
      project: z.nullable(name),
      states: z.array(z.enum(MAIL_STATES)).check(z.minLength(1), z.maxLength(MAIL_STATES.length)),
      /** Only messages that were admitted before the one with this number, for the next page. */
      before: z.nullable(whole(1, Number.MAX_SAFE_INTEGER)),
      limit,
      /** Also the questions that were read and have no answer, whether `read` is among the states or not. */
      unanswered: z.optional(z.literal(true)),
    }),
    result: typeOnly<{ count: number }>(),
    item: typeOnly<MessageRecord>(),
    agentsMay: false,
    changes: false,
  },
  /** Lists the messages that wait for the caller's answer. */
  pending: {
    params: z.strictObject(mailbox),
    result: typeOnly<{ count: number }>(),
    item: typeOnly<MessageRecord>(),
    agentsMay: "inbox",
    changes: false,
  },
  /** Shows one message, the steps it went through, and its reply. */
  showMail: {
    params: z.strictObject({ ...onBehalf, id: messageId }),
    result: typeOnly<{ message: MessageRecord; steps: MailStep[]; reply: MessageRecord | null }>(),
    agentsMay: true,
    changes: false,
  },
  cancel: {
    params: z.strictObject({ ...onBehalf, id: messageId }),
    result: typeOnly<{ id: string; state: MailState }>(),
    agentsMay: true,
    changes: true,
  },
  redeliver: {
    params: z.strictObject({ id: messageId }),
    result: typeOnly<{ id: string; state: MailState }>(),
    agentsMay: false,
    changes: true,
  },
  /** Lets a worker's mail wait, or come again. */
  pause: {
    params: z.strictObject({ target, on: z.boolean() }),
    result: typeOnly<{ address: string; paused: boolean }>(),
    agentsMay: false,
    changes: true,
  },
} as const satisfies CallTable;

import * as z from "zod/mini";
import { IN_HAND_MAX, OFFERS_PER_CALL, RECIPIENTS_MAX } from "../../limits/index.ts";
import { whole, name, messageId, body, waitMs, attach, who, place, target, limit } from "./shapes.ts";

export const mailCalls = {
  send: z.strictObject({
    ...who,
    here: place,
    project: z.nullable(name),
    to: z.array(name).check(z.maxLength(RECIPIENTS_MAX)),
    /** To every worker of the project, instead. */
    all: z.boolean(),
    body,
    id: z.nullable(messageId),
    ttlMs: z.nullable(whole(1, Number.MAX_SAFE_INTEGER)),
    supersedes: z.nullable(messageId),
    expectsReply: z.boolean(),
    attach,
    /** Names in the project's file: they can be mailed before they ever ran. */
    declared: z.array(name).check(z.maxLength(RECIPIENTS_MAX)),
  }),
  ask: z.strictObject({
    ...who,
    here: place,
    project: z.nullable(name),
    to: name,
    body,
    id: messageId,
    ttlMs: z.nullable(whole(1, Number.MAX_SAFE_INTEGER)),
    attach,
    declared: z.array(name).check(z.maxLength(RECIPIENTS_MAX)),
    waitMs,
  }),
  /** To the message of this id, or the only one that waits. */
  reply: z.strictObject({
    ...who,
    here: place,
    project: z.nullable(name),
    id: z.nullable(messageId),
    body,
    messageId: z.nullable(messageId),
    attach,
  }),
  receive: z.strictObject({
    ...who,
    here: place,
    project: z.nullable(name),
    max: whole(1, OFFERS_PER_CALL),
    waitMs,
    /** After an answer was lost: all that arrived and is not acknowledged. What is on offer besides comes again, first. */
    inHand: z.optional(z.array(messageId).check(z.maxLength(IN_HAND_MAX))),
  }),
  ack: z.strictObject({
    ...who,
    ids: z.array(messageId).check(z.maxLength(OFFERS_PER_CALL)),
    how: z.enum(["read", "injected"]),
  }),
  inbox: z.strictObject({
    ...who,
    here: place,
    project: z.nullable(name),
    target: z.nullable(target),
    all: z.boolean(),
    limit,
  }),
  pending: z.strictObject({ ...who, here: place, project: z.nullable(name) }),
  mail: z.strictObject({ ...who, id: messageId }),
  cancel: z.strictObject({ ...who, id: messageId }),
  redeliver: z.strictObject({ id: messageId }),
  pause: z.strictObject({ target, on: z.boolean() }),
} as const;

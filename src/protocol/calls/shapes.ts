import * as z from "zod/mini";
import {
  ATTACHMENTS_MAX,
  FIRST_PROMPT_CHARS_MAX,
  LIST_ROWS_MAX,
  MESSAGE_BYTES_MAX,
  HOUR_MS,
  KILL_AFTER_MS_MAX,
  NAME_CHARS_MAX,
  WAIT_HOURS_MAX,
} from "../../limits/index.ts";
import { ENVIRONMENT_SCOPES } from "../records/environment.ts";
import { MESSAGE_ID } from "../records/mail.ts";
import { SESSION_ID } from "../records/conversation.ts";

// The pieces that the parameters of calls are made of.

export const text = (most: number): z.ZodMiniString => z.string().check(z.minLength(1), z.maxLength(most));
export const whole = (least: number, most: number): z.ZodMiniNumberFormat => z.int().check(z.gte(least), z.lte(most));

/** A path has no NUL in it, nor half of a character: no file could be called that. */
export const path = text(4096).check(z.startsWith("/"), z.regex(/^[^\0\p{Surrogate}]*$/u));
// The limit is above that of a legal name, so that the answer can say what is wrong with a long one.
export const name = text(4 * NAME_CHARS_MAX);
export const runId = text(255);
const generation = whole(0, Number.MAX_SAFE_INTEGER);
export const pid = whole(1, 2 ** 31);
export const sessionId = text(200).check(z.regex(SESSION_ID));
export const token = z.string().check(z.minLength(32), z.maxLength(128));
export const messageId = text(128).check(z.regex(MESSAGE_ID));
export const body = z.string().check(z.maxLength(2 * MESSAGE_BYTES_MAX));
export const waitMs = whole(0, WAIT_HOURS_MAX * HOUR_MS);
export const killAfterMs = whole(0, KILL_AFTER_MS_MAX);
export const attachedFiles = z.array(path).check(z.maxLength(ATTACHMENTS_MAX));

/** A run shows that it is the one that was granted the name. */
export const proof = { run: runId, generation, token };

/** Names the worker that a call is made for: by a lease of the caller's own, else by the token of the connection. */
export const onBehalf = {
  as: z.nullable(z.strictObject(proof)),
  /** The caller is an agent that the worker's agent started. */
  nested: z.boolean(),
};

/** The folder the caller stands in, as it sees it; the daemon decides which project that is. */
export const projectRef = z.strictObject({
  identity: path,
  root: path,
  base: name,
  /** The file with the project's name cannot be read: a known project is found without it, and no other may be made. */
  guessed: z.optional(z.literal(true)),
});

/** A worker by `project/name`, or by name alone in the caller's project. */
export const target = z.strictObject({ project: z.nullable(name), name, here: projectRef });

/** The arguments that tell a program without an adapter which conversation to open. */
const declared = z.strictObject({ new: z.array(z.string()), resume: z.array(z.string()) });

const variables = z.record(z.string(), z.string());

/** The environment that a caller gives to a worker, for this start and for later ones. */
export const environment = {
  environment: variables,
  /** How much of the caller's environment that is; a client of an earlier version does not say. */
  scope: z.optional(z.enum(ENVIRONMENT_SCOPES)),
};

/** A program to start; without a command, the one that was started last. */
export const launch = {
  command: z.nullable(z.array(z.string()).check(z.minLength(1))),
  cwd: z.nullable(path),
  ...environment,
  /** The variables that the worker's entry of perdure.toml sets, which win over all others; absent, the worker keeps those it has. */
  own: z.optional(variables),
  /** The vendor whose program the command starts, and which word of it that is; null for one without an adapter. */
  vendor: z.nullable(
    z.strictObject({ name: text(64), programAt: whole(0, 10_000), declared: z.optional(z.nullable(declared)) }),
  ),
  /** The first prompt of a new conversation. It is not kept, and becomes an argument, so it has no NUL. */
  prompt: z.optional(z.nullable(text(FIRST_PROMPT_CHARS_MAX).check(z.regex(/^[^\0]*$/)))),
};

export const limit = whole(1, LIST_ROWS_MAX);

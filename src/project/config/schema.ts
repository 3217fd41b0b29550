import * as z from "zod/mini";
import {
  ABOUT_CHARS_MAX,
  FLEET_WORKERS_MAX,
  SCOPE_CHARS_MAX,
  TURNS_FROM_MAX,
  WAKES_PER_HOUR_MAX,
} from "../../limits/index.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import { own } from "../../util/own.ts";
import { checkName, isName, nearest } from "../../protocol/names.ts";
import { OPERATOR, SUPERVISOR } from "../../protocol/records/mail.ts";
import { folderSuchAs, isFolderBelow } from "./folder.ts";
import { isScope, KEEP, type Key, type Table } from "./keys.ts";
import { NEED_KINDS } from "../../protocol/records/needs.ts";
import { AT_ONCE, isAtOnce, isPerHour, isTimeout, PER_HOUR, TIMEOUT } from "./turns.ts";
import { AFTER, COMMAND, isAfter, isCommand, isNtfy, isQuiet, NTFY, QUIET } from "./notify.ts";

// The shapes of perdure.toml and of the user's config.toml. The message of an issue says what the value must be ("a text in quotes").
// Two kinds differ: an unknown key's message is the hint, and a message with `params` is the whole sentence.

/** Exactly the keys of a table. */
type Keys<T extends Table> = Record<Key<T>, unknown>;

const text = z.string({ error: "a text in quotes" });
const LIST = "a list of texts in quotes";
const texts = z.array(z.string({ error: LIST }), { error: LIST });
const flag = z.boolean({ error: "true or false" });
const COUNT = `a whole number from 1 to ${FLEET_WORKERS_MAX}`;
const count = z.int({ error: COUNT }).check(z.gte(1, COUNT), z.lte(FLEET_WORKERS_MAX, COUNT));
const VARIABLES = "a table of texts";
const variables = keyed(z.record(z.string(), z.string({ error: VARIABLES }), { error: VARIABLES }));
const name = z.string({ error: "a name in quotes" }).check((context) => {
  try {
    checkName(context.value);
  } catch (error) {
    if (!isPerdureError(error)) throw error;
    const { message, hint } = error;
    context.issues.push({ code: "custom", input: context.value, message, params: { hint } });
  }
});

const ABOUT = `a text of at most ${ABOUT_CHARS_MAX} characters, on one line`;
const isAbout = (value: string): boolean => value.length <= ABOUT_CHARS_MAX && !/\p{Cc}/u.test(value);
const about = z.string({ error: ABOUT }).check(z.refine(isAbout, { error: ABOUT }));
const SENDERS = `a list of at most ${TURNS_FROM_MAX} of "operator", "supervisor" and names`;
const isSender = (value: string): boolean => value === OPERATOR || value === SUPERVISOR || isName(value);
const senders = z
  .array(z.string({ error: SENDERS }).check(z.refine(isSender, { error: SENDERS })), { error: SENDERS })
  .check(z.maxLength(TURNS_FROM_MAX, SENDERS));
const WAKES = `a whole number from 0 to ${WAKES_PER_HOUR_MAX}`;

const defaults = {
  vendor: z.exactOptional(name),
  args: z.exactOptional(texts),
  prompt: z.exactOptional(text),
  worktree: z.exactOptional(flag),
  worktree_hooks: z.exactOptional(flag),
  copy: z.exactOptional(texts),
  group: z.exactOptional(name),
  env: z.exactOptional(variables),
  cwd: z.exactOptional(text),
  mode: z.exactOptional(choice(["tmux", "turn"])),
  turns_from: z.exactOptional(senders),
  activate: z.exactOptional(choice(["mail", "ask"])),
  restart: z.exactOptional(choice(["never", "on-failure", "always"])),
} satisfies Keys<"defaults">;

const worker = table({
  ...defaults,
  count: z.exactOptional(count),
  command: z.exactOptional(texts),
  new: z.exactOptional(texts),
  resume: z.exactOptional(texts),
  about: z.exactOptional(about),
} satisfies Keys<"worker">);

const context = table({ dir: z.exactOptional(text), ext: z.exactOptional(text) } satisfies Keys<"context">);
const folder = (example: string): z.ZodMiniString => {
  const error = folderSuchAs(example);
  return z.string({ error }).check(z.refine(isFolderBelow, { error }));
};
const records = table({ dir: z.exactOptional(folder(".perdure/records")) } satisfies Keys<"records">);
const policy = table({
  agents_may: z.exactOptional(texts),
  environment: z.exactOptional(texts),
} satisfies Keys<"policy">);

const environment = table({ keep: z.exactOptional(choice(KEEP)) } satisfies Keys<"environment">);

const mail = table({
  drop_dir: z.exactOptional(folder(".perdure/drop")),
  introduce: z.exactOptional(flag),
  wakes_per_hour: z.exactOptional(
    z
      .number({ error: WAKES })
      .check(z.int({ error: WAKES }), z.gte(0, { error: WAKES }), z.lte(WAKES_PER_HOUR_MAX, { error: WAKES })),
  ),
} satisfies Keys<"mail">);

const SCOPE = `a text of 1 to ${SCOPE_CHARS_MAX} characters, on one line`;
const pi = table({
  scope: z.exactOptional(z.string({ error: SCOPE }).check(z.refine(isScope, { error: SCOPE }))),
} satisfies Keys<"pi">);

const notify = table({
  command: z.exactOptional(
    z.array(z.string({ error: COMMAND }), { error: COMMAND }).check(z.refine(isCommand, { error: COMMAND })),
  ),
  ntfy: z.exactOptional(z.string({ error: NTFY }).check(z.refine(isNtfy, { error: NTFY }))),
  details: z.exactOptional(flag),
  bell: z.exactOptional(flag),
  on: z.exactOptional(z.array(choice(NEED_KINDS), { error: `a list of ${NEED_KINDS.join(", ")}` })),
  after: z.exactOptional(z.string({ error: AFTER }).check(z.refine(isAfter, { error: AFTER }))),
  quiet: z.exactOptional(z.string({ error: QUIET }).check(z.refine(isQuiet, { error: QUIET }))),
} satisfies Keys<"notify">);

const tmux = table({ conf: z.exactOptional(text) } satisfies Keys<"tmux">);

const hourly = z.number({ error: PER_HOUR }).check(z.refine(isPerHour, { error: PER_HOUR }));
const turns = table({
  at_once: z.exactOptional(z.number({ error: AT_ONCE }).check(z.refine(isAtOnce, { error: AT_ONCE }))),
  per_hour: z.exactOptional(hourly),
  project_per_hour: z.exactOptional(hourly),
  timeout: z.exactOptional(z.string({ error: TIMEOUT }).check(z.refine(isTimeout, { error: TIMEOUT }))),
} satisfies Keys<"turns">);

const project = {
  project: z.exactOptional(name),
  name: z.exactOptional(name),
  defaults: z.exactOptional(table(defaults)),
  workers: z.exactOptional(keyed(z.record(name, worker, { error: "a table" }))),
  context: z.exactOptional(context),
  records: z.exactOptional(records),
  policy: z.exactOptional(policy),
  mail: z.exactOptional(mail),
  turns: z.exactOptional(turns),
  pi: z.exactOptional(pi),
} satisfies Keys<"project">;

/** Tables that run programs or send something away: a repository has no say in them, so they belong to the user's own file. */
const usersOwn = { notify: usersOnly("notify"), tmux: usersOnly("tmux") };

export const projectFile = table({ ...project, ...usersOwn }, Object.keys(project));

export const userFile = table({
  name: z.exactOptional(name),
  context: z.exactOptional(context),
  policy: z.exactOptional(policy),
  environment: z.exactOptional(environment),
  notify: z.exactOptional(notify),
  tmux: z.exactOptional(tmux),
  turns: z.exactOptional(turns),
} satisfies Keys<"user">);

/** The shape of perdure.toml. */
export type Config = Omit<z.infer<typeof projectFile>, keyof typeof usersOwn>;
/** The shape of the user's config.toml. */
export type UserConfig = z.infer<typeof userFile>;
/** The shape of `[defaults]`, which hold for all workers. */
export type WorkerDefaults = NonNullable<Config["defaults"]>;
export type WorkerEntry = z.infer<typeof worker>;

function choice<const Words extends readonly string[]>(words: Words): z.ZodMiniEnum<{ [W in Words[number]]: W }> {
  return z.enum(words, { error: `one of ${words.join(", ")}` });
}

/** Refuses a table of the user's own file in a project's. */
function usersOnly(key: string): z.ZodMiniExactOptional<z.ZodMiniCustom> {
  const error = `[${key}] is read from your own configuration only: a repository must not run programs or send anything away by itself.`;
  const hint = `move it to ~/.config/perdure/config.toml`;
  return z.exactOptional(z.custom(() => false, { error, params: { hint } }));
}

/** A table with these keys and no others. A date is an object, too, and zod would take it for an empty table. */
function table<Shape extends z.core.$ZodShape>(
  shape: Shape,
  known = Object.keys(shape),
): z.ZodMiniPipe<z.ZodMiniCustom, z.ZodMiniObject<Shape, z.core.$strict>> {
  const error = (issue: z.core.$ZodRawIssue): string =>
    issue.code === "unrecognized_keys" ? hintFor(issue.keys[0] ?? "", known) : "a table";
  const noDate = z.custom((value) => !(value instanceof Date), { error: "a table" });
  return z.pipe(noDate, z.strictObject(shape, { error }));
}

/** A table of any keys but the one that zod passes over in silence. */
function keyed<Keyed extends z.core.$ZodType>(record: Keyed): z.ZodMiniPipe<z.ZodMiniCustom, Keyed> {
  const hasNone = (value: unknown): boolean =>
    typeof value !== "object" || value === null || !Object.hasOwn(value, "__proto__");
  const error = '"__proto__" cannot be a key.';
  return z.pipe(z.custom(hasNone, { error, params: { hint: "give it another name" } }), record);
}

/** Tables of the user's own file that a repository, which comes from strangers, has no say in. */
const USERS_OWN: Readonly<Record<string, string>> = {
  environment:
    "it belongs in your own config.toml (~/.config/perdure); a perdure.toml can only name variables, in [policy] environment",
};

function hintFor(key: string, known: string[]): string {
  const elsewhere = known.includes("workers") ? own(USERS_OWN, key) : undefined;
  if (elsewhere !== undefined) return elsewhere;
  const [best] = nearest(key, known);
  return best ? `did you mean ${best}?` : `known keys: ${known.join(", ")}`;
}

import { SCOPE_CHARS_MAX, WAKES_PER_HOUR_MAX } from "../../limits/index.ts";
import { isName } from "../../protocol/names.ts";
import { isTable } from "../../util/fields.ts";
import { isFolderBelow } from "./folder.ts";
import { isPlainNotify } from "./notify.ts";
import { isPlainTurns } from "./turns.ts";

/** The keys of each table of perdure.toml and of the user's config.toml; `schema.ts` says what their values are. */
const DEFAULTS = [
  "vendor",
  "args",
  "prompt",
  "worktree",
  "worktree_hooks",
  "copy",
  "group",
  "env",
  "cwd",
  "mode",
  "turns_from",
  "activate",
  "restart",
] as const;
/** How much of an environment can be recorded. */
export const KEEP = ["all", "known", "none"] as const;
const KEYS = {
  project: ["project", "name", "defaults", "workers", "context", "records", "policy", "mail", "pi", "turns"],
  user: ["name", "context", "policy", "environment", "notify", "tmux", "turns"],
  defaults: DEFAULTS,
  worker: [...DEFAULTS, "count", "command", "new", "resume", "about"],
  context: ["dir", "ext"],
  records: ["dir"],
  policy: ["agents_may", "environment"],
  environment: ["keep"],
  mail: ["introduce", "wakes_per_hour", "drop_dir"],
  pi: ["scope"],
  notify: ["command", "ntfy", "details", "bell", "on", "after", "quiet"],
  tmux: ["conf"],
  turns: ["at_once", "per_hour", "project_per_hour", "timeout"],
} as const;

export type Table = keyof typeof KEYS;
export type Key<T extends Table> = (typeof KEYS)[T][number];

/**
 * Whether a file has known keys only, and its settings have the right values. True of every file without a mistake; the values of
 * workers are not looked at, so that this takes no time and no library.
 */
export function hasPlainSettings(values: Record<string, unknown>, file: "project" | "user"): boolean {
  const { project, name, defaults, workers = {}, context = {}, records = {}, policy = {}, mail = {}, pi = {} } = values;
  const { environment = {}, notify = {}, tmux = {}, turns = {} } = values;
  return (
    hasKeysOf(file, values) &&
    isPlainName(project) &&
    isPlainName(name) &&
    hasKeysOf("context", context) &&
    Object.values(context).every(isText) &&
    hasKeysOf("records", records) &&
    Object.values(records).every(isFolderBelow) &&
    hasKeysOf("policy", policy) &&
    Object.values(policy).every((list) => Array.isArray(list) && list.every(isText)) &&
    (file === "project" || (hasKeysOf("environment", environment) && isPlainKeep(environment))) &&
    hasKeysOf("mail", mail) &&
    isPlainMail(mail) &&
    hasKeysOf("pi", pi) &&
    Object.values(pi).every(isScope) &&
    hasKeysOf("notify", notify) &&
    isPlainNotify(notify) &&
    hasKeysOf("tmux", tmux) &&
    Object.values(tmux).every(isText) &&
    hasKeysOf("turns", turns) &&
    isPlainTurns(turns) &&
    hasKeysOf("defaults", defaults) &&
    isTable(workers) &&
    Object.entries(workers).every(([key, entry]) => isName(key) && hasKeysOf("worker", entry))
  );
}

function hasKeysOf(table: Table, values: unknown = {}): values is Record<string, unknown> {
  const known: readonly string[] = KEYS[table];
  return isTable(values) && Object.keys(values).every((key) => known.includes(key));
}

function isPlainMail({ introduce = true, wakes_per_hour: wakes = 0, drop_dir: dir }: Record<string, unknown>): boolean {
  return (
    (dir === undefined || isFolderBelow(dir)) &&
    typeof introduce === "boolean" &&
    Number.isInteger(wakes) &&
    Number(wakes) >= 0 &&
    Number(wakes) <= WAKES_PER_HOUR_MAX
  );
}

function isPlainKeep({ keep = KEEP[0] }: Record<string, unknown>): boolean {
  return KEEP.some((word) => word === keep);
}

function isPlainName(value: unknown): boolean {
  return value === undefined || (typeof value === "string" && isName(value));
}

/** A scope of pi-intercom is compared as it is written; a blank one would be none. */
export function isScope(value: unknown): boolean {
  return typeof value === "string" && value.trim() !== "" && value.length <= SCOPE_CHARS_MAX && !/\p{Cc}/u.test(value);
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

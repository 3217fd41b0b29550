import { NOTICE_AFTER_MS, NOTICE_AFTER_MS_MAX } from "../../limits/index.ts";
import { NEED_KINDS, type NeedKind } from "../../protocol/records/needs.ts";
import { durationMs } from "../../util/duration.ts";

// The `[notify]` table of the user's config.toml: what its values must be, and what they mean.

export const COMMAND = 'a list of texts in quotes that begins with a program, such as ["notify-send", "perdure"]';
export const NTFY = 'the address of a topic in quotes, such as "https://ntfy.sh/my-topic"';
export const AFTER = 'a duration in quotes of at most a day, such as "20s" or "0s"';
export const QUIET = 'two times of the day in quotes, such as "22:00-07:00"';

/** When and how the user wants to be told that they are needed. */
export interface NotifySettings {
  command: readonly string[] | null;
  ntfy: string | null;
  /** The reason is sent to ntfy, too. */
  details: boolean;
  bell: boolean;
  on: readonly NeedKind[];
  afterMs: number;
  /** The minutes of the day between which nobody is told. */
  quiet: { from: number; to: number } | null;
}

/** The table as it is written. */
interface NotifyTable {
  command?: readonly string[];
  ntfy?: string;
  details?: boolean;
  bell?: boolean;
  on?: readonly NeedKind[];
  after?: string;
  quiet?: string;
}

/** Returns the settings of a user's file; the defaults for what it leaves out. */
export function notifySettings({ notify = {} }: { notify?: NotifyTable }): NotifySettings {
  const { command = null, ntfy = null, details = false, bell = true, on = NEED_KINDS, after, quiet } = notify;
  const afterMs = after === undefined ? NOTICE_AFTER_MS : (durationMs(after) ?? NOTICE_AFTER_MS);
  return { command, ntfy, details, bell, on, afterMs, quiet: quiet === undefined ? null : quietHours(quiet) };
}

/** Whether the values are what `schema.ts` says, for a reader that does not load it. */
export function isPlainNotify({ command, ntfy, details, bell, on, after, quiet }: Record<string, unknown>): boolean {
  return (
    isOptional(command, (value) => Array.isArray(value) && value.every(isText) && isCommand(value)) &&
    isOptional(ntfy, (value) => isText(value) && isNtfy(value)) &&
    isOptional(details, isFlag) &&
    isOptional(bell, isFlag) &&
    isOptional(on, (value) => Array.isArray(value) && value.every(isNeedKind)) &&
    isOptional(after, (value) => isText(value) && isAfter(value)) &&
    isOptional(quiet, (value) => isText(value) && isQuiet(value))
  );
}

export function isCommand([program = ""]: readonly string[]): boolean {
  return program.trim() !== "";
}

/** Whether it is an address that one line of curl's configuration can hold. */
export function isNtfy(value: string): boolean {
  return /^https?:\/\/[^\s/]+\/[^\s]+$/.test(value) && !/\p{Cc}/u.test(value);
}

export function isAfter(value: string): boolean {
  const ms = durationMs(value);
  return ms !== null && ms <= NOTICE_AFTER_MS_MAX;
}

export function isQuiet(value: string): boolean {
  return quietHours(value) !== null;
}

function quietHours(value: string): NotifySettings["quiet"] {
  const [, from, to] = /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(value) ?? [];
  const [begin, end] = [minuteOf(from), minuteOf(to)];
  return begin === null || end === null || begin === end ? null : { from: begin, to: end };
}

function minuteOf(time = ""): number | null {
  const [hours = NaN, minutes = NaN] = time.split(":").map(Number);
  return hours < 24 && minutes < 60 ? hours * 60 + minutes : null;
}

function isOptional(value: unknown, isRight: (value: unknown) => boolean): boolean {
  return value === undefined || isRight(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isFlag(value: unknown): boolean {
  return typeof value === "boolean";
}

function isNeedKind(value: unknown): boolean {
  return NEED_KINDS.some((kind) => kind === value);
}

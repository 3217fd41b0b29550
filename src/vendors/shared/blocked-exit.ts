import type { BlockedReason } from "../../protocol/records/conversation.ts";
import { dialogOn, lastIndentedLines, lastLines, type Dialog } from "./screen.ts";

/** A missing login or a used-up limit ends an agent in a way that starting it again does not help. */
export type BlockedKind = Extract<BlockedReason, "login" | "limit">;

export interface BlockedExit {
  kind: BlockedKind;
  /** The line in which the program says so. */
  line: string;
}

/** The lines with which a vendor's program says that it is blocked, each by how the whole line begins. */
export interface BlockedExitForms {
  /** Lines with a mark in front that no line of a conversation has at this place. */
  marked: readonly BlockedExitForm[];
  /** The column of the mark. The same words further in are a part of what somebody said. */
  column: number;
  /** The beginning of a line of the conversation; one below a marked line means that the agent has gone on since. */
  spoken: RegExp;
  /** Lines without a mark, as the last words of a program that nobody sits in front of. */
  lastWords: readonly BlockedExitForm[];
}

export type BlockedExitForm = readonly [kind: BlockedKind, line: RegExp];

/**
 * Says which login or limit blocks the agent with this last screen; null when none does. The vendor's own lines count
 * where no conversation follows them; words that anybody may use count only as the very last ones of a program that has
 * ended.
 */
export function blockedExitOn(
  text: string,
  screen: { dialogs?: readonly Dialog[]; blockedExit?: BlockedExitForms } = {},
): BlockedExit | null {
  const dialog = dialogOn(text, screen.dialogs);
  if (dialog?.reason === "login" || dialog?.reason === "limit") return { kind: dialog.reason, line: dialog.line };
  const { lastWords = [] } = screen.blockedExit ?? {};
  const said = lastLines(text).slice(-LAST_WORDS);
  return errorOn(text, screen.blockedExit) ?? lastOf(said, [...lastWords, ...GENERAL]);
}

/** Returns the error with the program's own mark that ended the last turn on this screen; null when the agent has gone on since. */
export function errorOn(text: string, forms: BlockedExitForms | undefined): BlockedExit | null {
  if (!forms) return null;
  const lines = lastIndentedLines(text);
  const found = lines.findLast(
    ({ line, indent }) => forms.spoken.test(line) || (indent === forms.column && kindOf(line, forms.marked) !== null),
  );
  const kind = found?.indent === forms.column ? kindOf(found.line, forms.marked) : null;
  return found && kind !== null ? { kind, line: found.line } : null;
}

/** On the screen of a program that waits for input, the last lines are the input line and what stands below it. */
const LAST_WORDS = 3;

function lastOf(lines: readonly string[], forms: readonly BlockedExitForm[]): BlockedExit | null {
  const line = lines.findLast((each) => kindOf(each, forms) !== null);
  const kind = line === undefined ? null : kindOf(line, forms);
  return line === undefined || kind === null ? null : { kind, line };
}

function kindOf(line: string, forms: readonly BlockedExitForm[]): BlockedKind | null {
  return forms.find(([, form]) => form.test(line))?.[0] ?? null;
}

/** Lines of programs that nobody knows, and of other versions of the known ones. */
const GENERAL: readonly BlockedExitForm[] = [
  ["login", /^(?:error: )?(?:you are |you're )?not (?:logged|signed) in\b/i],
  ["login", /^(?:error: )?(?:please )?(?:log|sign) in again\b/i],
  ["login", /^(?:error: )?(?:login|session|token|credentials?) (?:has |have )?expired\b/i],
  ["login", /^(?:error: )?(?:invalid|incorrect|expired|missing) api key\b/i],
  ["login", /^(?:error: )?(?:http )?401 unauthorized\b/i],
  ["login", /^(?:error: )?authentication (?:failed|required|error)\b/i],
  ["limit", /^(?:error: )?(?:usage|rate|spend|daily|weekly|monthly) limit (?:reached|exceeded)\b/i],
  ["limit", /^(?:error: )?quota (?:reached|exceeded|exhausted)\b/i],
  ["limit", /^(?:error: )?you(?:'ve| have) (?:hit|reached|exceeded|used up) your [\w' -]{0,40}(?:limit|quota)\b/i],
];

import type { BlockedReason } from "../../protocol/records/conversation.ts";
import { adapterOf } from "../index.ts";
import { dialogOn, lastLines } from "./screen.ts";

/** What keeps an agent from going on until somebody logs in, or until time has passed: starting it again helps nobody. */
type HeldKind = Extract<BlockedReason, "login" | "limit">;

export interface Held {
  kind: HeldKind;
  /** In its own words. */
  line: string;
}

/** How a vendor's program says so: each a whole line of its own, by how that begins. */
export interface HeldForms {
  /** With a mark in front that no line of a conversation has. */
  marked: readonly HeldForm[];
  /** How a line of the conversation begins. One below a marked line means that it went on since. */
  spoken: RegExp;
  /** Without a mark, as the last words of one that nobody sits in front of. */
  lastWords: readonly HeldForm[];
}

export type HeldForm = readonly [kind: HeldKind, line: RegExp];

/**
 * Why the agent with this last screen is held, if it is. Its vendor's own words are looked for on the last lines, where no
 * conversation follows them; words that anybody may use count only as the very last ones of a program that has ended.
 */
export function whyHeld(vendor: string | null, text: string): Held | null {
  const adapter = vendor === null ? null : adapterOf(vendor);
  const dialog = dialogOn(text, adapter?.dialogs);
  if (dialog?.reason === "login" || dialog?.reason === "limit") return { kind: dialog.reason, line: dialog.line };
  const lines = lastLines(text);
  const { marked = [], spoken = null, lastWords = [] } = adapter?.held ?? {};
  return lastOf(lines, marked, spoken) ?? lastOf(lines.slice(-LAST_WORDS), [...lastWords, ...GENERAL], null);
}

/** Where somebody sits in front, so many lines at the end are the one to type in and what stands below it. */
const LAST_WORDS = 3;

function lastOf(lines: readonly string[], forms: readonly HeldForm[], spoken: RegExp | null): Held | null {
  for (const line of lines.toReversed()) {
    const kind = forms.find(([, form]) => form.test(line))?.[0];
    if (kind !== undefined) return { kind, line };
    if (spoken?.test(line)) return null;
  }
  return null;
}

/** Of programs that nobody knows, and of what the known ones say in other versions. */
const GENERAL: readonly HeldForm[] = [
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

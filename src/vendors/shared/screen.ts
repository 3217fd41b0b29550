import { stripVTControlCharacters } from "node:util";
import { DIALOG_LINES } from "../../limits/index.ts";
import type { BlockedReason } from "../../protocol/records/conversation.ts";

/**
 * A dialog is known by lines of its own, the first of which says what it is about; all stand at the end of the screen
 * while it is open.
 */
export type Dialog = readonly [reason: BlockedReason, about: RegExp, ...others: RegExp[]];

export function dialogOn(
  text: string,
  dialogs: readonly Dialog[] = [],
): { reason: BlockedReason; line: string } | null {
  const lines = lastLines(text);
  for (const [reason, about, ...others] of dialogs) {
    const line = lines.find((each) => about.test(each));
    if (line !== undefined && others.every((words) => lines.some((each) => words.test(each)))) return { reason, line };
  }
  return null;
}

/**
 * Returns the last lines of a screen, without frames and empty lines. Dialogs and errors stand there, history is above.
 */
export function lastLines(text: string): string[] {
  return lastIndentedLines(text).map(({ line }) => line);
}

/**
 * Returns the line at the end of a screen that says best why a program has ended: the first that reads like an error, because advice and
 * the places in a program's code follow it; else the very last. Null for an empty screen.
 */
export function lastWordsOn(text: string): string | null {
  const lines = lastLines(text);
  return lines.find((line) => ERROR_WORDS.test(line)) ?? lines.at(-1) ?? null;
}

const ERROR_WORDS =
  /\b(?:error|fatal|fail(?:ed|ure)|unable to|cannot|can't|could ?n[o']t|not found|no such|denied|refused|invalid|missing)\b/i;

/** Returns the last lines of a screen with the column that each begins in: a program's own marks have one of their own. */
export function lastIndentedLines(text: string): { line: string; indent: number }[] {
  return indentedLines(text).slice(-DIALOG_LINES);
}

function indentedLines(text: string): { line: string; indent: number }[] {
  const plain = stripVTControlCharacters(text).replaceAll("\u00A0", " ");
  const lines = plain.split("\n").map((raw) => {
    const indent = /^[\s│┃▎]*/.exec(raw)?.[0].length ?? 0;
    return { line: raw.slice(indent).replace(/[\s│┃]+$/, ""), indent };
  });
  return lines.filter(({ line }) => /[^─━╌═▀▄╭╮╰╯┌┐└┘]/.test(line) && !PANE_ENDED.test(line));
}

/** A line with a program's own mark, at a column at which no line of a conversation has it; the first group is the words. */
export interface MarkedLine {
  readonly form: RegExp;
  readonly column: number;
  /** The line stands below the last rule across the screen, where the program says things of its own. */
  readonly inFooter?: true;
}

/** Returns the words with which a program says, anywhere on its screen, that it no longer records its conversation; null without them. */
export function unrecordedOn(text: string, said: MarkedLine | undefined): string | null {
  if (said === undefined) return null;
  const shown = said.inFooter ? (text.split(RULE).at(-1) ?? "") : text;
  const lines = indentedLines(shown).filter(({ indent }) => indent === said.column);
  return lines.map(({ line }) => said.form.exec(line)?.[1]).find((words) => words !== undefined) ?? null;
}

const RULE = /^[─━]{20,}\s*$/m;

/** The line that tmux puts below the last screen of a program. */
const PANE_ENDED = /^(Pane is dead \(|\[.* has ended\b.*\]$)/;

/** Returns the last line with which a program says, at its end, that it does not resume the conversation; null without one. */
export function refusalOn(text: string, forms: readonly RegExp[] = []): string | null {
  return lastLines(text).findLast((line) => forms.some((form) => form.test(line))) ?? null;
}

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
  const plain = stripVTControlCharacters(text).replaceAll("\u00A0", " ");
  const lines = plain.split("\n").map((line) => line.replaceAll(/^[\s│┃▎]+|[\s│┃]+$/g, ""));
  return lines.filter((line) => /[^─━╌═▀▄╭╮╰╯┌┐└┘]/.test(line) && !PANE_ENDED.test(line)).slice(-DIALOG_LINES);
}

/** The line that tmux puts below the last screen of a program. */
const PANE_ENDED = /^(Pane is dead \(|\[.* has ended\b.*\]$)/;

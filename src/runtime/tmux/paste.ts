import { randomBytes } from "node:crypto";
import { PerdureError } from "../../protocol/errors.ts";
import { hintOf, verb } from "../../protocol/hint.ts";
import type { ControlClient } from "./control-client.ts";

/** The screen of a pane at this moment, and whether it takes a paste. */
export interface PaneView {
  /** The visible part, line by line as it is drawn. */
  screen: string;
  /** False while a person scrolls in it, while its input is off, or where tmux knows that its program takes no bracketed paste. */
  takesPaste: boolean;
  /** The name of our last paste into it; empty if there was none. */
  pasted: string;
}

/** Looks at a pane. tmux before 3.7 does not tell whether a program takes bracketed pastes: its screen has to. */
export async function viewPane(client: ControlClient, pane: string): Promise<PaneView> {
  const state = "#{pane_dead}#{?pane_in_mode,1,0}#{?pane_input_off,1,0}|#{bracket_paste_flag}|#{@perdure_pasted}";
  const [[answer = ""] = []] = await client.send(["display-message", "-p", "-t", pane, state]);
  const lines = await client.sendGuarded(["capture-pane", "-p", "-t", pane]);
  const [flags, bracketed, pasted = ""] = answer.split("|");
  return { screen: lines.join("\n"), takesPaste: flags === "000" && bracketed !== "0", pasted };
}

/**
 * Pastes texts into a pane, one behind the other, each in a bracketed frame of its own, and presses no key. What the paste is called stays
 * with the pane, for whoever comes after a daemon that has died. Throws, and pastes nothing, if a text has a control character but tab
 * and newline: one of them could end the frame, and what follows would be typed.
 */
export async function pasteTexts(
  client: ControlClient,
  pane: string,
  texts: readonly string[],
  name: string,
): Promise<void> {
  for (const text of texts) assertPastable(text);
  const buffer = `perdure-${randomBytes(8).toString("hex")}`;
  // tmux carries out the whole line, or nothing of it.
  await client.send(
    ["set-option", "-p", "-t", pane, "@perdure_pasted", name],
    ...texts.flatMap((text) => [
      ["set-buffer", "-b", buffer, "--", text],
      // -r: a newline stays one, for a carriage return is the Enter key.
      ["paste-buffer", "-p", "-r", "-d", "-b", buffer, "-t", pane],
    ]),
  );
}

export async function pressEnter(client: ControlClient, pane: string): Promise<void> {
  await client.send(["send-keys", "-t", pane, "Enter"]);
}

function assertPastable(text: string): void {
  const found = UNPASTABLE.exec(text);
  if (found === null) return;
  const code = found[0].codePointAt(0) ?? 0;
  const message = `A text with U+${code.toString(16).toUpperCase().padStart(4, "0")} is not pasted into a terminal.`;
  throw new PerdureError("refused", message, { hint: hintOf`read it with: ${verb("inbox")}` });
}

/** Every control character, C1 included, but tab and newline; and half a surrogate pair, whose bytes nobody knows. */
const UNPASTABLE = /[^\P{Cc}\t\n]|\p{Cs}/u;

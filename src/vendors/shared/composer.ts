import { INPUT_FOOTER_LINES_MAX, INPUT_LINES_MAX } from "../../limits/index.ts";
import type { PasteForm } from "../delivery.ts";

/** How a program draws the place where it takes input: lines of their own between two that are drawn across the screen. */
export interface ComposerForm {
  readonly above: RegExp;
  readonly below: RegExp;
  /** The line while nothing is typed. */
  readonly empty: RegExp;
  /** The sign in front of the input. */
  readonly prompt: RegExp;
  /** A paste of so many lines as it is shown, without its blanks. */
  readonly pasted: (lines: number) => string;
}

/** Reads the screens of a program that draws its input that way, and shows a longer paste in a few words. */
export function composerOf({ above, below, empty, prompt, pasted }: ComposerForm): PasteForm {
  /** Returns the lines of the input; none where it is not at the end of the screen, as while a dialog is there instead. */
  const inputOn = (screen: string): string[] => {
    const lines = screen.replaceAll("\u00A0", " ").split("\n");
    const isInput = (from: number, to: number): boolean => from !== -1 && to - from > 1 && to - from <= INPUT_LINES_MAX;
    const startOf = (end: number): number => lines.slice(0, end).findLastIndex((line) => above.test(line));
    const end = lines.findLastIndex((line, at) => below.test(line) && isInput(startOf(at), at));
    const footer = lines.slice(end + 1).filter((line) => line.trim() !== "");
    if (end === -1 || footer.length > INPUT_FOOTER_LINES_MAX) return [];
    return lines.slice(startOf(end) + 1, end).map((line) => line.trimEnd());
  };
  /** Returns what is typed, without blanks: a narrow terminal breaks it anywhere. */
  const typedOn = (screen: string): string => {
    const [first = "", ...others] = inputOn(screen);
    return prompt.test(first) ? withoutBlanks([first.replace(prompt, ""), ...others].join("")) : "";
  };
  return {
    isEmpty: (screen) => {
      const [line = "-", ...others] = inputOn(screen);
      return others.length === 0 && empty.test(line);
    },
    isPasted: (screen, head, lines) => {
      const [typed, words] = [typedOn(screen), withoutBlanks(head)];
      return typed.startsWith(words) && new RegExp(`^${pasted(lines)}$`).test(typed.slice(words.length));
    },
    hasTyped: (screen, words) => typedOn(screen).includes(withoutBlanks(words)),
  };
}

function withoutBlanks(text: string): string {
  return text.replaceAll(/\s+/g, "");
}

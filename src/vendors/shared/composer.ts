import { INPUT_FOOTER_LINES_MAX } from "../../limits/index.ts";
import type { PasteForm } from "../delivery.ts";

/** How a program draws the place where it takes input: one line of its own between two that are drawn across the screen. */
export interface ComposerForm {
  readonly above: RegExp;
  readonly below: RegExp;
  /** The line while nothing is typed. */
  readonly empty: RegExp;
  /** The line with a paste of so many lines in it, and nothing else. */
  readonly pasted: (lines: number) => RegExp;
}

/** Reads the screens of a program that draws its input that way, and shows a longer paste as one line. */
export function composerOf({ above, below, empty, pasted }: ComposerForm): PasteForm {
  /** Returns the input; null where it has not one line, or is not at the end of the screen, as while a dialog is there instead. */
  const inputOn = (screen: string): string | null => {
    const lines = screen.replaceAll("\u00A0", " ").split("\n");
    const at = lines.findLastIndex((_, each) => above.test(lines[each - 1] ?? "") && below.test(lines[each + 1] ?? ""));
    const footer = lines.slice(at + 2).filter((line) => line.trim() !== "");
    return at === -1 || footer.length > INPUT_FOOTER_LINES_MAX ? null : (lines[at]?.trimEnd() ?? null);
  };
  return {
    isEmpty: (screen) => empty.test(inputOn(screen) ?? "-"),
    isPasted: (screen, lines) => pasted(lines).test(inputOn(screen) ?? "-"),
  };
}

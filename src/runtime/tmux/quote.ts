import { PerdureError } from "../../protocol/errors.ts";

/**
 * One command line of tmux's own language: commands separated by `;`, each word quoted so that it arrives byte for byte.
 * One line is carried out in order; what follows a command that fails is left out.
 */
export function commandLine(commands: readonly (readonly string[])[]): string {
  return commands.map((words) => words.map((word) => quoteWord(word)).join(" ")).join(" ; ");
}

/**
 * tmux reads `$HOME`, `~`, `#`, `%if`, `;` and backslashes, some of them inside quotes too: so everything that is not
 * plain is written as an octal escape, in quotes. A newline would end the command; it is an escape like the others.
 */
export function quoteWord(word: string): string {
  if (word.includes("\0")) {
    throw new PerdureError(
      "usage",
      `${JSON.stringify(word.slice(0, 80))} has a zero byte: no program can be given that.`,
    );
  }
  // oxlint-disable-next-line no-control-regex -- everything of ASCII but the plain ones
  return `"${word.replace(/[\x01-\x7f]/g, (char) => (PLAIN.test(char) ? char : octal(char)))}"`;
}

const PLAIN = /[A-Za-z0-9_./:,@+=-]/;

function octal(char: string): string {
  return `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`;
}

/** For words that tmux expands as a format (`-c`, `-n`, a window's name): the text itself, whatever it contains. */
export function literal(text: string): string {
  return text.replaceAll("#", "##");
}

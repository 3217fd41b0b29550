import { PerdureError } from "../../protocol/errors.ts";

/**
 * Makes one line of tmux's own language: commands separated by `;`, each word quoted so that it arrives byte for byte. tmux
 * runs a line in order and skips the commands after one that fails.
 */
export function commandLine(commands: readonly (readonly string[])[]): string {
  return commands.map((words) => words.map((word) => quoteWord(word)).join(" ")).join(" ; ");
}

/**
 * Quotes a word for tmux, which interprets `$HOME`, `~`, `#`, `%if`, `;` and backslashes, some of them inside quotes too: so
 * every character that is not plain becomes an octal escape, a newline as well, which would end the command.
 */
export function quoteWord(word: string): string {
  if (word.includes("\0")) {
    throw new PerdureError("usage", `${JSON.stringify(word.slice(0, 80))} contains a NUL byte, which no argument may.`);
  }
  // oxlint-disable-next-line no-control-regex -- all of ASCII except the plain characters
  return `"${word.replace(/[\x01-\x7f]/g, (char) => (PLAIN.test(char) ? char : octal(char)))}"`;
}

const PLAIN = /[A-Za-z0-9_./:,@+=-]/;

function octal(char: string): string {
  return `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`;
}

/** Escapes a text for options that tmux expands as a format: `-c`, `-n`, a window's name. */
export function literal(text: string): string {
  return text.replaceAll("#", "##");
}

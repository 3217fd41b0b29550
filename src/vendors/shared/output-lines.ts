import { stripVTControlCharacters } from "node:util";
import { TURN_LINE_CHARS_MAX, WORDS_LENGTH_MAX } from "../../limits/index.ts";
import { parseObject } from "../../util/fields.ts";

/** A line that a program prints for programs. */
export type PrintedLine = Readonly<Record<string, unknown>>;

/** Cuts what a program prints into lines, each a JSON object; a line that is none, such as a warning, is passed over. */
export class OutputLines {
  /** The parts of a line whose end is still to come. */
  #parts: string[] = [];
  #length = 0;

  /** Takes the next part of the output, cut anywhere, and returns the objects that are complete with it. */
  push(text: string): PrintedLine[] {
    const [first = "", ...others] = text.split("\n");
    this.#add(first);
    return others.flatMap((next) => {
      const line = this.#take();
      this.#add(next);
      return line;
    });
  }

  /** Returns the object of a last line that has no end. */
  end(): PrintedLine[] {
    return this.#take();
  }

  /** Adds a part to the line; nothing but its length is kept of a line that is too long. */
  #add(text: string): void {
    this.#length += text.length;
    if (this.#length > TURN_LINE_CHARS_MAX) this.#parts = [];
    else this.#parts.push(text);
  }

  #take(): PrintedLine[] {
    const line = this.#length > TURN_LINE_CHARS_MAX ? null : parseObject(this.#parts.join(""));
    this.#parts = [];
    this.#length = 0;
    return line === null ? [] : [line];
  }
}

/**
 * Returns the last line that a program has left on its stderr, without the `usual` ones, which tell nothing of its end; if there is none,
 * how it ended. A killed one has not chosen its last line.
 */
export function lastWordsOf(stderr: string, exit: number | null, usual?: RegExp): string {
  if (exit === null) return "it was killed before it answered";
  const last = stripVTControlCharacters(stderr)
    .split("\n")
    .map((line) => line.trim())
    .findLast((line) => line !== "" && usual?.test(line) !== true);
  return last?.slice(0, WORDS_LENGTH_MAX) ?? `it ended with exit code ${exit} and no answer`;
}

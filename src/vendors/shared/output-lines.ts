import { WORDS_LENGTH_MAX } from "../../limits/index.ts";
import { parseObject } from "../../util/fields.ts";

type JsonLine = Readonly<Record<string, unknown>>;

/** Cuts what a program prints into lines, each a JSON object; a line that is none, such as a warning, is passed over. */
export class OutputLines {
  #rest = "";

  /** Takes the next part of the output, cut anywhere, and returns the objects that are complete with it. */
  push(text: string): JsonLine[] {
    const lines = `${this.#rest}${text}`.split("\n");
    this.#rest = lines.pop() ?? "";
    return lines.map(parseObject).filter((line) => line !== null);
  }

  /** Returns the object of a last line that has no end. */
  end(): JsonLine[] {
    const last = this.#rest;
    this.#rest = "";
    const line = parseObject(last);
    return line === null ? [] : [line];
  }
}

/** Returns the last line that a program has left on its stderr; without any, how it ended. */
export function lastWordsOf(stderr: string, exit: number | null): string {
  const last = stderr
    .split("\n")
    .map((line) => line.trim())
    .findLast((line) => line !== "");
  if (last !== undefined) return last.slice(0, WORDS_LENGTH_MAX);
  return exit === null ? "it was killed before it answered" : `it ended with exit code ${exit} and no answer`;
}

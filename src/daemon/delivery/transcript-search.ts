import { closeSync, fstatSync, readSync } from "node:fs";
import { TRANSCRIPT_MARK_BYTES } from "../../limits/index.ts";
import { openIfReadable } from "../../state/bounded-read.ts";
import type { Piece } from "./pieces.ts";

/** Searches what is appended to a transcript for the marks of pieces, and reads each byte once for each mark at most. */
export class TranscriptSearch {
  #file = "";
  /** Everything before this byte was searched for the marks of `#known`. */
  #searchedTo = 0;
  #known = new Set<string>();
  /** The end of what was searched: a mark may be cut in two by it. */
  #rest = "";
  readonly #toldIn: ((line: string) => string) | null;

  constructor(toldIn: ((line: string) => string) | null = null) {
    this.#toldIn = toldIn;
  }

  /** Returns the marks that stand in the transcript now and did not at the last search. */
  find(file: string, pieces: readonly Piece[]): Set<string> {
    const fd = pieces.length === 0 ? null : openIfReadable(file);
    if (fd === null) return new Set();
    try {
      const { size } = fstatSync(fd);
      this.#startAt(file, size, pieces);
      const text = this.#rest + readText(fd, this.#searchedTo, size);
      this.#searchedTo = size;
      this.#known = new Set(pieces.map(({ mark }) => mark));
      this.#rest = this.#unfinished(text, pieces);
      return new Set([...this.#known].filter((mark) => this.#hasMark(text, mark)));
    } finally {
      closeSync(fd);
    }
  }

  /** Returns what has to be searched again, with what will follow it: a mark, or a line that is judged as a whole. */
  #unfinished(text: string, pieces: readonly Piece[]): string {
    if (this.#toldIn === null) return text.slice(-Math.max(...pieces.map(({ mark }) => mark.length)));
    return text.slice(text.lastIndexOf("\n") + 1);
  }

  #hasMark(text: string, mark: string): boolean {
    if (this.#toldIn === null || !text.includes(mark)) return text.includes(mark);
    const toldIn = this.#toldIn;
    const finished = text.slice(0, text.lastIndexOf("\n") + 1);
    return finished.split("\n").some((line) => line.includes(mark) && toldIn(line).includes(mark));
  }

  /** Goes back to where the marks of new pieces can stand at the earliest; to the beginning of a file that was written anew. */
  #startAt(file: string, size: number, pieces: readonly Piece[]): void {
    const isOther = file !== this.#file || size < this.#searchedTo;
    const unknown = pieces.filter(({ mark }) => isOther || !this.#known.has(mark));
    const from = Math.min(...unknown.map(({ transcriptBytes }) => (transcriptBytes > size ? 0 : transcriptBytes)));
    if (!isOther && from >= this.#searchedTo) return;
    this.#file = file;
    this.#searchedTo = from;
    this.#rest = "";
  }
}

/** Reads the part as one byte per character, because marks are ASCII. Of a part that is too long only its end is read. */
function readText(fd: number, from: number, to: number): string {
  const start = Math.max(from, to - TRANSCRIPT_MARK_BYTES);
  const buffer = Buffer.allocUnsafe(Math.max(0, to - start));
  const length = readSync(fd, buffer, 0, buffer.length, start);
  return buffer.toString("latin1", 0, length);
}

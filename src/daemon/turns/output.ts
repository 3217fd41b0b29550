import { closeSync, fstatSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { TURN_OUTPUT_BYTES_MAX, TURN_OUTPUT_READ_BYTES, TURN_STDERR_BYTES } from "../../limits/index.ts";
import { openIfReadable } from "../../state/bounded-read.ts";
import type { TurnProgress, TurnReader } from "../../vendors/turn.ts";

/** Gives a vendor's reader what a turn prints to its file, as it grows; the file lies where the agent can write, so it may be anything. */
export class TurnOutput {
  readonly #file: string;
  readonly #reader: TurnReader;
  readonly #decoder = new StringDecoder("utf8");
  #position = 0;

  constructor(file: string, reader: TurnReader) {
    this.#file = file;
    this.#reader = reader;
  }

  /** More was printed than is read of one turn. */
  get isTooLong(): boolean {
    return this.#position >= TURN_OUTPUT_BYTES_MAX;
  }

  /** Reads the next part; `isAll` is false if there is more. */
  read(): { progress: TurnProgress[]; isAll: boolean } {
    const fd = this.isTooLong ? null : openIfReadable(this.#file);
    if (fd === null) return { progress: [], isAll: true };
    try {
      const chunk = Buffer.allocUnsafe(TURN_OUTPUT_READ_BYTES);
      const length = readSync(fd, chunk, { position: this.#position });
      this.#position += length;
      const progress = length === 0 ? [] : this.#reader.push(this.#decoder.write(chunk.subarray(0, length)));
      return { progress, isAll: length < chunk.length };
    } finally {
      closeSync(fd);
    }
  }

  /** Reads to the end: the program has ended, and nobody is kept waiting by more than one turn's output. */
  readAll(): void {
    while (!this.read().isAll);
  }
}

/** Reads the end of what a program has said on its stderr. */
export function endOfStderr(file: string): string {
  return endOfFile(file, TURN_STDERR_BYTES).text;
}

/** Reads the last bytes of a file; `isCut` is true if there are more in front of them. */
export function endOfFile(file: string, bytesMax: number): { text: string; isCut: boolean } {
  const fd = openIfReadable(file);
  if (fd === null) return { text: "", isCut: false };
  try {
    const { size } = fstatSync(fd);
    const chunk = Buffer.alloc(Math.min(size, bytesMax));
    const length = readSync(fd, chunk, { position: size - chunk.length });
    return { text: chunk.toString("utf8", 0, length), isCut: size > chunk.length };
  } finally {
    closeSync(fd);
  }
}

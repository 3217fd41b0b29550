import { BRIDGE_LINE_BYTES_MAX, BRIDGE_LINE_KEPT_BYTES } from "../../limits/index.ts";

const NEWLINE = 0x0a;

/** One line; `cut` of one beyond the limit, of which only the beginning and the end are kept, with a newline between them. */
export interface ReadLine {
  text: string;
  cut: boolean;
}

/**
 * Cuts a byte stream into lines. One beyond the limit is never kept whole, and is a line all the same: whoever has sent it would send it
 * again to the next connection, and for ever, if it got no answer.
 */
export class LineReader {
  #parts: Buffer[] = [];
  #bytes = 0;
  /** The last bytes of a line that is beyond the limit. */
  #tail: Buffer | null = null;

  /** Returns the lines that the chunk completes. */
  push(chunk: Buffer): ReadLine[] {
    const lines: ReadLine[] = [];
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, end));
      lines.push(this.#take());
      from = end + 1;
    }
    // A copy, because the rest may take for ever, and the chunk would stay in memory for it.
    if (from < chunk.length) this.#keep(Buffer.from(chunk.subarray(from)));
    return lines;
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#tail === null) this.#parts.push(part);
    if (this.#bytes <= BRIDGE_LINE_BYTES_MAX) return;
    const last = this.#tail === null ? Buffer.concat(this.#parts) : Buffer.concat([this.#tail, part]);
    if (this.#tail === null) this.#parts = [Buffer.from(last.subarray(0, BRIDGE_LINE_KEPT_BYTES))];
    this.#tail = Buffer.from(last.subarray(-BRIDGE_LINE_KEPT_BYTES));
  }

  #take(): ReadLine {
    const kept = Buffer.concat(this.#parts).toString("utf8");
    const line =
      this.#tail === null ? { text: kept, cut: false } : { text: `${kept}\n${this.#tail.toString("utf8")}`, cut: true };
    this.#parts = [];
    this.#bytes = 0;
    this.#tail = null;
    return line;
  }
}

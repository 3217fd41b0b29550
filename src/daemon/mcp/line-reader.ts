import { BRIDGE_LINE_BYTES_MAX } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";

const NEWLINE = 0x0a;

/** Cuts a byte stream into lines; one beyond the limit throws before it is kept whole. */
export class LineReader {
  #parts: Buffer[] = [];
  #bytes = 0;

  /** Returns the lines that the chunk completes. */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, end));
      lines.push(Buffer.concat(this.#parts).toString("utf8"));
      this.#parts = [];
      this.#bytes = 0;
      from = end + 1;
    }
    // A copy, because the rest may take for ever, and the chunk would stay in memory for it.
    if (from < chunk.length) this.#keep(Buffer.from(chunk.subarray(from)));
    return lines;
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > BRIDGE_LINE_BYTES_MAX) {
      throw new PerdureError("usage", `A line exceeds the limit of ${BRIDGE_LINE_BYTES_MAX} bytes.`, {
        hint: "put long text in a file",
      });
    }
    this.#parts.push(part);
  }
}

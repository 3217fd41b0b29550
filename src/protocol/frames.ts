import { FRAME_BYTES_MAX } from "../limits.ts";
import { PerdureError } from "./errors.ts";

const HEADER_BYTES = 4;

/** One frame: four bytes of length (big endian), then that many bytes of JSON in UTF-8. */
export function encodeFrame(value: unknown): Buffer {
  const json = JSON.stringify(value);
  const length = Buffer.byteLength(json);
  if (length > FRAME_BYTES_MAX) throw frameTooLarge(length);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + length);
  frame.writeUInt32BE(length, 0);
  frame.write(json, HEADER_BYTES, "utf8");
  return frame;
}

/**
 * Cuts a byte stream into frames. A length beyond the limit throws before anything of it is kept, so a peer
 * that announces a gigabyte costs four bytes.
 */
export class FrameReader {
  #chunks: Buffer[] = [];
  #bytes = 0;

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
  }

  /** The next whole frame's value, or `undefined` while it is incomplete. */
  next(): { value: unknown } | undefined {
    if (this.#bytes < HEADER_BYTES) return undefined;
    const length = this.#peek(HEADER_BYTES).readUInt32BE(0);
    if (length > FRAME_BYTES_MAX) throw frameTooLarge(length);
    if (this.#bytes < HEADER_BYTES + length) return undefined;
    const frame = this.#take(HEADER_BYTES + length);
    return { value: parse(frame.toString("utf8", HEADER_BYTES)) };
  }

  #peek(count: number): Buffer {
    const [first] = this.#chunks;
    if (first && first.length >= count) return first;
    return this.#join();
  }

  #take(count: number): Buffer {
    const joined = this.#join();
    const rest = joined.subarray(count);
    this.#chunks = rest.length > 0 ? [rest] : [];
    this.#bytes = rest.length;
    return joined.subarray(0, count);
  }

  #join(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0] ?? Buffer.alloc(0);
  }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new PerdureError("usage", "A frame is not JSON.", { cause });
  }
}

function frameTooLarge(length: number): PerdureError {
  return new PerdureError("usage", `${length} bytes are more than one call may carry (${FRAME_BYTES_MAX}).`, {
    hint: "put long text in a file",
  });
}

import { FRAME_BYTES_MAX } from "../limits/index.ts";
import { PerdureError, type ErrorBody } from "./errors.ts";

const HEADER_BYTES = 4;

/** The frame of a call. `id` 0 is the hello; every call of a connection has its own id from 1. */
export interface RequestFrame {
  id: number;
  call: string;
  params: unknown;
}

export type ResponseFrame =
  | { id: number; result: unknown }
  | { id: number; item: unknown }
  | { id: number; error: ErrorBody };

export interface Welcome {
  protocol: number;
  version: string;
  pid: number;
  /** The pid namespace of the daemon; an older daemon does not say. */
  namespace?: string;
}

/** One frame: four bytes of length (big endian), then that many bytes of JSON in UTF-8. */
export function encodeFrame(value: unknown): Buffer {
  const frames = new FrameGatherer();
  frames.add(value);
  return frames.take();
}

/** Gathers the frames of one turn into one piece: many calls that share a commit are answered with one write. */
export class FrameGatherer {
  #texts: { json: string; length: number }[] = [];
  #bytes = 0;

  /** Throws, and keeps nothing of the value, when it is too large. */
  add(value: unknown): void {
    const json = JSON.stringify(value);
    const length = Buffer.byteLength(json);
    if (length > FRAME_BYTES_MAX) throw frameTooLarge(length);
    this.#texts.push({ json, length });
    this.#bytes += HEADER_BYTES + length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  take(): Buffer {
    // The buffer is not pooled: a piece that nobody reads would keep the whole pool in memory.
    const piece = Buffer.allocUnsafeSlow(this.#bytes);
    let at = 0;
    for (const { json, length } of this.#texts) {
      at = piece.writeUInt32BE(length, at);
      at += piece.write(json, at, length, "utf8");
    }
    this.#texts = [];
    this.#bytes = 0;
    return piece;
  }
}

const NOTHING = Buffer.alloc(0);

/**
 * Cuts a byte stream into frames. A length beyond the limit throws before anything of it is kept, so a peer
 * that announces a gigabyte costs four bytes; and an incomplete frame takes as much memory as it is long, in however many pieces it came.
 */
export class FrameReader {
  #buffer: Buffer = NOTHING;
  #from = 0;
  #to = 0;

  push(chunk: Buffer): void {
    if (this.#from === this.#to) {
      // Nothing waits, so nothing has to be copied.
      this.#buffer = chunk;
      this.#from = 0;
      this.#to = chunk.length;
      return;
    }
    if (this.#to + chunk.length > this.#buffer.length) this.#grow(chunk.length);
    this.#to += chunk.copy(this.#buffer, this.#to);
  }

  /** The next whole frame's value, or `undefined` while it is incomplete. */
  next(): { value: unknown } | undefined {
    const bytes = this.#to - this.#from;
    if (bytes < HEADER_BYTES) return this.#wait(bytes);
    const length = this.#buffer.readUInt32BE(this.#from);
    if (length > FRAME_BYTES_MAX) throw frameTooLarge(length);
    if (bytes < HEADER_BYTES + length) return this.#wait(bytes);
    const start = this.#from + HEADER_BYTES;
    this.#from = start + length;
    return { value: parse(this.#buffer.toString("utf8", start, this.#from)) };
  }

  /** The rest may take for ever, so the chunk that an incomplete frame came in is not kept for its sake. */
  #wait(bytes: number): undefined {
    if (bytes === 0) {
      this.#buffer = NOTHING;
      this.#from = this.#to = 0;
    } else if (4 * bytes < this.#buffer.length) {
      this.#move(2 * bytes);
    }
  }

  /** Grows by a share of what is there: a frame that comes byte by byte is moved a few times, not at every byte. */
  #grow(by: number): void {
    const bytes = this.#to - this.#from;
    this.#move(bytes + Math.ceil(bytes / 4) + by);
  }

  #move(capacity: number): void {
    const larger = Buffer.allocUnsafeSlow(capacity);
    this.#to = this.#buffer.copy(larger, 0, this.#from, this.#to);
    this.#from = 0;
    this.#buffer = larger;
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
  return new PerdureError("usage", `A frame of ${length} bytes exceeds the limit of ${FRAME_BYTES_MAX}.`, {
    hint: "put long text in a file",
  });
}

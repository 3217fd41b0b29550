import type { FileHandle } from "node:fs/promises";

/** Reads the bytes of a file from `from` on, `size` at a time, up to its end or to `to`. */
export async function* chunksOf(
  handle: FileHandle,
  size: number,
  from = 0,
  to = Number.POSITIVE_INFINITY,
): AsyncGenerator<Buffer> {
  for (let at = from; at < to;) {
    const chunk = await readAt(handle, at, Math.min(size, to - at));
    if (chunk.length === 0) return;
    yield chunk;
    at += chunk.length;
  }
}

/** Reads up to `length` bytes at a place in a file; fewer where it ends. */
export async function readAt(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await handle.read(buffer, 0, length, at);
  return buffer.subarray(0, bytesRead);
}

/** Reads the whole lines of a file between two places, in batches, between which others go on; half a line at the end is left out. */
export async function* linesOf(handle: FileHandle, size: number, from: number, to?: number): AsyncGenerator<Buffer[]> {
  /** The beginning of a line that goes on in the next part. It is joined once, however many parts it has. */
  let begun: Buffer[] = [];
  for await (const chunk of chunksOf(handle, size, from, to)) {
    const end = chunk.lastIndexOf(NEWLINE);
    if (end < 0) begun.push(chunk);
    if (end < 0) continue;
    const whole = begun.length === 0 ? chunk.subarray(0, end) : Buffer.concat([...begun, chunk.subarray(0, end)]);
    begun = [chunk.subarray(end + 1)];
    yield splitLines(whole);
  }
}

function splitLines(text: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let from = 0; from <= text.length;) {
    const end = text.indexOf(NEWLINE, from);
    lines.push(text.subarray(from, end < 0 ? text.length : end));
    from = end < 0 ? text.length + 1 : end + 1;
  }
  return lines;
}

const NEWLINE = 10;

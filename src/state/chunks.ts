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

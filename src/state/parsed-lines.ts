import type { FileHandle } from "node:fs/promises";
import { READ_CHUNK_BYTES } from "../limits/index.ts";
import { isPerdureError } from "../protocol/errors.ts";
import { isErrno } from "./files.ts";
import { openRegular } from "./open-regular.ts";

/**
 * Parses the lines of a file that is not ours, of which those that `parse` returns null for are left out. The file is read in
 * parts, between which others go on. One that cannot be read or has too many bytes tells no more than an empty one.
 */
export async function parsedLinesOf<T>(
  file: string,
  bytesMax: number,
  parse: (line: string) => T | null,
): Promise<T[]> {
  let handle: FileHandle | null = null;
  try {
    handle = await openRegular(file);
    const { size } = await handle.stat();
    return size > bytesMax ? [] : await parseOpen(handle, size, parse);
  } catch (error) {
    if (isPerdureError(error) || isErrno(error, ...UNREADABLE)) return [];
    throw error;
  } finally {
    await handle?.close();
  }
}

const UNREADABLE = [
  "ENOENT",
  "ENOTDIR",
  "EACCES",
  "EPERM",
  "ELOOP",
  "ENXIO",
  "EIO",
  "EINVAL",
  "EAGAIN",
  "ENODEV",
] as const;

/** Parses what the file had when it was opened: it may grow faster than it is read. */
async function parseOpen<T>(handle: FileHandle, size: number, parse: (line: string) => T | null): Promise<T[]> {
  const parsed: T[] = [];
  const take = (text: string): void => {
    for (const line of text.split("\n")) {
      const value = parse(line);
      if (value !== null) parsed.push(value);
    }
  };
  /** The beginning of a line that goes on in the next part. It is joined once, however many parts it has. */
  let begun: Buffer[] = [];
  for (let at = 0; at < size;) {
    const buffer = Buffer.allocUnsafe(Math.min(READ_CHUNK_BYTES, size - at));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) break;
    at += bytesRead;
    const part = buffer.subarray(0, bytesRead);
    const end = part.lastIndexOf(NEWLINE);
    if (end >= 0) take(Buffer.concat([...begun, part.subarray(0, end)]).toString("utf8"));
    if (end >= 0) begun = [];
    begun.push(part.subarray(end + 1));
  }
  take(Buffer.concat(begun).toString("utf8"));
  return parsed;
}

const NEWLINE = 10;

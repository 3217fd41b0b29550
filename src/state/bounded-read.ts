import { isUtf8 } from "node:buffer";
import { closeSync, constants, fstatSync, openSync, readSync, statSync, type Stats } from "node:fs";
import { END_READ_BYTES, READ_CHUNK_BYTES } from "../limits/index.ts";
import { PerdureError } from "../protocol/errors.ts";
import { isErrno } from "./files.ts";
import { shellWords } from "../util/shell-quote.ts";

// A file that is not ours may be anything: git carries links, and a link may lead to a device without an end or to a fifo that
// nobody writes to. The kind is looked at before the open, because opening some devices does something, and once more after it.

/** The text of a file that is not ours, or what is wrong with the file: the end of a sentence that its name begins. */
export type ForeignFile = { text: string } | { problem: string };

/** The flags of an open that neither waits for a fifo's writer nor takes a terminal. */
export const NO_WAIT = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Reads a text file that is not ours; null for one that does not exist. Throws, with a sentence, what is wrong with it. */
export function readBounded(file: string, bytesMax: number): string | null {
  const found = readForeign(file, bytesMax);
  if (found === null || "text" in found) return found?.text ?? null;
  throw new PerdureError("usage", `${file} ${found.problem}.`, { hint: shellWords(["ls", "-ld", file]) });
}

/** Reads a text file that is not ours where one that cannot be read tells no more than one that does not exist. */
export function readIfReadable(file: string, bytesMax: number): string {
  const found = readForeign(file, bytesMax);
  return found !== null && "text" in found ? found.text : "";
}

/** Reads a regular file of at most so many bytes without ever waiting; null for one that does not exist. */
export function readForeign(file: string, bytesMax: number): ForeignFile | null {
  const read = readForeignBytes(file, bytesMax);
  return read === null || "problem" in read ? read : { text: read.bytes.toString("utf8") };
}

/** Reads like `readForeign` a text that is passed on: one that is not UTF-8 is a problem, because it would arrive as another text. */
export function readForeignUtf8(file: string, bytesMax: number): ForeignFile | null {
  const read = readForeignBytes(file, bytesMax);
  if (read === null || "problem" in read) return read;
  return isUtf8(read.bytes) ? { text: read.bytes.toString("utf8") } : { problem: NOT_UTF8 };
}

/** The problem of a file whose bytes are not UTF-8. */
export const NOT_UTF8 = "is not UTF-8 text";

function readForeignBytes(file: string, bytesMax: number): { bytes: Buffer } | { problem: string } | null {
  const opened = openForeign(file);
  if (opened === null || "problem" in opened) return opened;
  try {
    const { size } = fstatSync(opened.fd);
    if (size > bytesMax) return { problem: `has ${size} bytes; the limit is ${bytesMax}` };
    const bytes = readBytesUpTo(opened.fd, bytesMax, size + 1);
    return bytes === null ? { problem: `has more than ${bytesMax} bytes` } : { bytes };
  } catch (error) {
    // The kernel's own files say that they are regular, and some of them cannot be read like one.
    if (!isErrno(error, "EIO", "EINVAL", "EAGAIN", "EISDIR", "ENODEV", "EPERM", "EACCES")) throw error;
    return { problem: `cannot be read: ${(error as NodeJS.ErrnoException).code}` };
  } finally {
    closeSync(opened.fd);
  }
}

/**
 * Reads an open file to its end; null, without reading on, if it has more bytes than allowed, whatever its size says. The first
 * read is for `firstBytes`: most files are small, are read again and again, and need no more.
 */
export function readUpTo(fd: number, bytesMax: number, firstBytes = READ_CHUNK_BYTES): string | null {
  return readBytesUpTo(fd, bytesMax, firstBytes)?.toString("utf8") ?? null;
}

/** Reads like `readUpTo`, and leaves the bytes as they are. */
export function readBytesUpTo(fd: number, bytesMax: number, firstBytes = READ_CHUNK_BYTES): Buffer | null {
  const chunks: Buffer[] = [];
  let capacity = Math.min(firstBytes, READ_CHUNK_BYTES);
  for (let total = 0; total <= bytesMax;) {
    const chunk = Buffer.allocUnsafe(Math.min(capacity, bytesMax + 1 - total));
    const length = readSync(fd, chunk);
    if (length === 0) return Buffer.concat(chunks, total);
    chunks.push(chunk.subarray(0, length));
    total += length;
    // A read that was not filled is nearly always the last one, and only its end is still to be seen.
    capacity = length < chunk.length ? END_READ_BYTES : READ_CHUNK_BYTES;
  }
  return null;
}

/** Opens a regular file that is not ours, to be read in parts; null for one that does not exist or cannot be read. */
export function openIfReadable(file: string): number | null {
  const opened = openForeign(file);
  return opened !== null && "fd" in opened ? opened.fd : null;
}

function openForeign(file: string): { fd: number } | { problem: string } | null {
  try {
    const before = irregularity(statSync(file));
    if (before !== null) return { problem: before };
    const fd = openSync(file, NO_WAIT);
    const after = irregularity(fstatSync(fd));
    if (after === null) return { fd };
    closeSync(fd);
    return { problem: after };
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return null;
    const problem = problemOf(error);
    if (problem === null) throw error;
    return { problem };
  }
}

/** Returns what keeps a file from being read: everything but a regular file may wait, or never end. */
export function irregularity(stats: Pick<Stats, "isFile" | "isDirectory"> | undefined): string | null {
  if (stats === undefined || stats.isFile()) return null;
  return stats.isDirectory() ? "cannot be read: it is a folder" : "is not a regular file";
}

function problemOf(error: unknown): string | null {
  if (isErrno(error, "EACCES", "EPERM")) return "cannot be read: permission denied";
  if (isErrno(error, "ELOOP")) return "cannot be read: too many links lead to it, or they lead in a circle";
  if (isErrno(error, "ENAMETOOLONG")) return "cannot be read: its name is too long";
  // A socket cannot be opened at all.
  return isErrno(error, "ENXIO") ? "is not a regular file" : null;
}

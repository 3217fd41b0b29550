import { createHash, type Hash } from "node:crypto";
import { chmod, mkdir, open, rename, rm, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { CUSTODY_CHUNK_BYTES, CUSTODY_SEAM_BYTES } from "../../limits/index.ts";
import { chunksOf, readAt } from "../../state/chunks.ts";
import { copyRegular, openRegular } from "../../state/open-regular.ts";

/** The size of a copy and its running hash, which is extended as the copy grows. */
export interface Copy {
  bytes: number;
  hash: Hash;
}

export function digestOfCopy({ hash }: Copy): string {
  return hash.copy().digest("hex");
}

/** Copies a file atomically. Where the file system can, the copy shares its blocks until one of the two changes. */
export async function copyWhole(source: string, target: string): Promise<Copy> {
  const aside = `${target}.tmp`;
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  try {
    await copyRegular(source, aside);
    // The copy of a read-only file is read-only, so the mode is set first.
    await chmod(aside, 0o600);
    const handle = await open(aside, "r+");
    try {
      const copy = await hashHandle(handle, Number.POSITIVE_INFINITY);
      await handle.datasync();
      await rename(aside, target);
      return copy;
    } finally {
      await handle.close();
    }
  } finally {
    await rm(aside, { force: true });
  }
}

/**
 * Appends what the source has beyond the copy. Returns null when the end of the copy differs from the source there, before or after:
 * the source may be cut off, and grow longer again, while it is read.
 */
export async function appendTail(source: string, target: string, copy: Copy): Promise<Copy | null> {
  const [from, to] = [await openRegular(source), await open(target, "r+")];
  try {
    if (!(await endsAlike(from, to, copy.bytes))) return null;
    const hash = copy.hash.copy();
    let bytes = copy.bytes;
    // A crash in the middle leaves bytes that are not on record; the next append overwrites them.
    await to.truncate(bytes);
    for await (const chunk of chunksOf(from, CUSTODY_CHUNK_BYTES, bytes)) {
      await to.write(chunk, 0, chunk.length, bytes);
      hash.update(chunk);
      bytes += chunk.length;
    }
    if (!(await endsAlike(from, to, copy.bytes))) return null;
    await to.datasync();
    return { bytes, hash };
  } finally {
    await from.close();
    await to.close();
  }
}

async function endsAlike(source: FileHandle, target: FileHandle, bytes: number): Promise<boolean> {
  const from = Math.max(0, bytes - CUSTODY_SEAM_BYTES);
  const [sourceEnd, targetEnd] = [await readAt(source, from, bytes - from), await readAt(target, from, bytes - from)];
  return sourceEnd.length === bytes - from && sourceEnd.equals(targetEnd);
}

/** Hashes the first `bytes` bytes of a file; returns null when it has fewer. */
export async function hashPrefix(file: string, bytes: number): Promise<Copy | null> {
  const handle = await openRegular(file);
  try {
    const copy = await hashHandle(handle, bytes);
    return copy.bytes === bytes ? copy : null;
  } finally {
    await handle.close();
  }
}

async function hashHandle(handle: FileHandle, maxBytes: number): Promise<Copy> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of chunksOf(handle, CUSTODY_CHUNK_BYTES, 0, maxBytes)) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, hash };
}

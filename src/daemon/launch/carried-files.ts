import { link, mkdir, open, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CUSTODY_CHUNK_BYTES, READ_CHUNK_BYTES, TRANSCRIPT_FIRST_LINE_BYTES_MAX } from "../../limits/index.ts";
import { chunksOf, readAt } from "../../state/chunks.ts";
import { isErrno } from "../../state/files.ts";
import { openRegular } from "../../state/open-regular.ts";
import { freeName } from "../custody/files.ts";

// Copies of transcripts that differ from the original in their first line. Nothing of the vendor's is overwritten or deleted.

export interface CopyWithFirstLine {
  source: string;
  target: string;
  /** The first line of the source, and what stands in its place in the copy. */
  skipped: string;
  firstLine: string;
}

export async function firstLineOf(file: string): Promise<string> {
  const handle = await openRegular(file);
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of chunksOf(handle, READ_CHUNK_BYTES)) {
      const end = chunk.indexOf(10);
      chunks.push(end < 0 ? chunk : chunk.subarray(0, end));
      if (end >= 0 || chunks.length * READ_CHUNK_BYTES > TRANSCRIPT_FIRST_LINE_BYTES_MAX) break;
    }
    return Buffer.concat(chunks).toString("utf8");
  } finally {
    await handle.close();
  }
}

/** Tells whether the copy is there already; null when nothing is there, or the copy is to take the place of its source. */
export async function isCopyWithFirstLine(copy: CopyWithFirstLine): Promise<boolean | null> {
  if (copy.target === copy.source) return null;
  try {
    const [source, target] = [await openRegular(copy.source), await openRegular(copy.target)];
    try {
      const rest = chunksOf(source, CUSTODY_CHUNK_BYTES, Buffer.byteLength(copy.skipped));
      const head = Buffer.from(copy.firstLine);
      if (!(await readAt(target, 0, head.length)).equals(head)) return false;
      let at = head.length;
      for await (const chunk of rest) {
        if (!(await readAt(target, at, chunk.length)).equals(chunk)) return false;
        at += chunk.length;
      }
      return (await target.stat()).size === at;
    } finally {
      await source.close();
      await target.close();
    }
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return null;
    throw error;
  }
}

/** Makes the copy, unless it is there. Where the copy takes the place of its source, that one is kept beside it. */
export async function copyWithFirstLine(copy: CopyWithFirstLine): Promise<void> {
  const { source, target } = copy;
  if (await isCopyWithFirstLine(copy)) return;
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const aside = join(dirname(target), `.${basename(target)}.perdure`);
  try {
    await writeCopy(copy, aside);
    if (target === source) {
      await link(source, freeName(`${source}.moved`));
      await rename(aside, target);
    } else {
      // A link fails where somebody has just made a file, and does not overwrite it.
      await link(aside, target);
    }
  } finally {
    await rm(aside, { force: true });
  }
}

async function writeCopy({ source, skipped, firstLine }: CopyWithFirstLine, aside: string): Promise<void> {
  const from = await openRegular(source);
  try {
    // In a vendor's folder anything may have the name: a fifo would wait for its reader, a link lead elsewhere.
    await rm(aside, { force: true });
    const to = await open(aside, "wx", 0o600);
    try {
      await to.writeFile(firstLine);
      for await (const chunk of chunksOf(from, CUSTODY_CHUNK_BYTES, Buffer.byteLength(skipped)))
        await to.writeFile(chunk);
      await to.datasync();
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

/** Makes a small file; one that is there is left as it is. */
export async function createSmallFile(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  try {
    await writeFile(file, text, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (!isErrno(error, "EEXIST")) throw error;
  }
}

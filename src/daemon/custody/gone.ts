import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { CUSTODY_CHUNK_BYTES } from "../../limits/index.ts";
import { linesOf, readAt } from "../../state/chunks.ts";
import { openRegular } from "../../state/open-regular.ts";
import { parseObject } from "../../util/fields.ts";
import type { Line } from "../../vendors/shared/split.ts";

/** The lines of a copy that its transcript no longer has, and those that it has from the first difference on. */
export interface Gone {
  count: number;
  /** The parts that were read of these lines; fewer than there are if some cannot be read. */
  lines: readonly Line[];
  left: readonly Line[];
}

/** Compares a copy with a transcript that does not begin with it. `read` returns what is to be known of a line, null for nothing. */
export async function goneFrom(
  { copy, bytes, transcript }: { copy: string; bytes: number; transcript: string },
  read: (line: Line) => Line | null,
): Promise<Gone> {
  const [kept, now] = [await openRegular(copy), await openRegular(transcript)];
  const readLine = (fields: Line | null): Line[] => {
    const known = fields && read(fields);
    return known ? [known] : [];
  };
  try {
    const { size } = await now.stat();
    const from = await firstDifferentLine(kept, now, Math.min(bytes, size));
    const there = new Map<string, number>();
    const left: Line[] = [];
    for await (const lines of linesOf(now, CUSTODY_CHUNK_BYTES, from, size))
      for (const line of lines) {
        const { fields, digest } = formOf(line);
        there.set(digest, (there.get(digest) ?? 0) + 1);
        left.push(...readLine(fields));
      }
    const gone: Gone & { lines: Line[] } = { count: 0, lines: [], left };
    for await (const lines of linesOf(kept, CUSTODY_CHUNK_BYTES, from, bytes))
      for (const line of lines) {
        const { fields, digest } = formOf(line);
        const count = there.get(digest) ?? 0;
        if (count > 0) there.set(digest, count - 1);
        if (count > 0 || line.length === 0) continue;
        gone.count++;
        gone.lines.push(...readLine(fields));
      }
    return gone;
  } finally {
    await kept.close();
    await now.close();
  }
}

/** Parses a line. A program that writes a file anew may spell a number in another way, so what is in the line is compared. */
function formOf(line: Buffer): { fields: Line | null; digest: string } {
  const fields = parseObject(line.toString("utf8"));
  const compared = fields === null ? line : JSON.stringify(fields);
  return { fields, digest: createHash("sha1").update(compared).digest("base64") };
}

/** Returns where the first line begins in which two files differ, or the last whole line ends that both have. */
async function firstDifferentLine(a: FileHandle, b: FileHandle, bytes: number): Promise<number> {
  let line = 0;
  for (let at = 0; at < bytes;) {
    const length = Math.min(CUSTODY_CHUNK_BYTES, bytes - at);
    const [one, other] = [await readAt(a, at, length), await readAt(b, at, length)];
    const differs = one.equals(other) ? -1 : one.findIndex((byte, index) => byte !== other[index]);
    const same = differs < 0 ? one : one.subarray(0, differs);
    const end = same.lastIndexOf(NEWLINE);
    if (end >= 0) line = at + end + 1;
    if (differs >= 0 || one.length < length) break;
    at += length;
  }
  return line;
}

const NEWLINE = 10;

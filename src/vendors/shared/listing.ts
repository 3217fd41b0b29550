import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { EXCERPT_CHARS_MAX, TRANSCRIPT_READ_BYTES } from "../../limits/index.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import type { FoundConversation } from "../../protocol/records/conversation.ts";
import { isErrno } from "../../state/files.ts";
import { openRegular } from "../../state/open-regular.ts";
import { parseLines, readPart, type TranscriptForm } from "./transcript.ts";

export interface Listing {
  folder: string;
  /** How many folders deep the transcripts lie. */
  depth: number;
  /** Returns the conversation's id by the file's path below the folder; null for a file that is no transcript. */
  idOf: (path: string) => string | null;
  form: TranscriptForm;
}

/**
 * Lists the newest transcripts below a folder, with what was said last in each. A conversation that was never begun is
 * left out.
 */
export async function listTranscripts(
  { folder, depth, idOf, form }: Listing,
  limit: number,
): Promise<FoundConversation[]> {
  const paths = (await pathsIn(folder, depth)).filter((path) => idOf(path) !== null);
  const dated = await Promise.all(paths.map(async (path) => ({ path, atMs: await changedAt(join(folder, path)) })));
  const newest = dated.toSorted((a, b) => b.atMs - a.atMs).slice(0, limit);
  const found: FoundConversation[] = [];
  for (const { path, atMs } of newest) {
    const file = join(folder, path);
    const lines = (await endsOf(file)).map((line) => form.read(line));
    if (form.atBirth !== true && lines.every(({ spoken }) => spoken === false)) continue;
    const cwd = lines.map((line) => line.cwd ?? line.seenIn).find((each) => each !== undefined) ?? null;
    const id = form.header ? (lines.find(({ session }) => session !== null)?.session ?? idOf(path)) : idOf(path);
    const words = lines.findLast((line) => line.words !== undefined)?.words ?? null;
    found.push({ id: id ?? "", file, cwd, words: words && shortened(words), atMs });
  }
  return found;
}

/** Returns the paths of the files that lie so many folders deep. A folder that cannot be read is somebody else's. */
async function pathsIn(folder: string, depth: number): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (isErrno(error, "ENOENT", "ENOTDIR", "ELOOP", "EACCES", "EPERM")) return [];
    throw error;
  });
  if (depth === 0) return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  const below = await Promise.all(
    entries.map(async ({ name }) => (await pathsIn(join(folder, name), depth - 1)).map((path) => join(name, path))),
  );
  return below.flat();
}

async function changedAt(file: string): Promise<number> {
  const info = await stat(file).catch((error: unknown) => {
    if (isErrno(error, "ENOENT", "ENOTDIR", "ELOOP")) return null; // gone since it was listed
    throw error;
  });
  return info?.mtimeMs ?? 0;
}

async function endsOf(file: string): Promise<Record<string, unknown>[]> {
  const handle = await openRegular(file).catch((error: unknown) => {
    if (isErrno(error, "ENOENT", "ENOTDIR", "ELOOP", "EACCES", "EPERM") || isPerdureError(error)) return null;
    throw error;
  });
  if (handle === null) return [];
  try {
    const { size } = await handle.stat();
    const head = await readPart(handle, 0, Math.min(size, TRANSCRIPT_READ_BYTES));
    const from = Math.max(Buffer.byteLength(head), size - TRANSCRIPT_READ_BYTES);
    return [...parseLines(head), ...(from < size ? parseLines(await readPart(handle, from, size - from)) : [])];
  } finally {
    await handle.close();
  }
}

/** Cuts a text down to one short line. */
function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= EXCERPT_CHARS_MAX ? line : `${line.slice(0, EXCERPT_CHARS_MAX - 1)}…`;
}

/** Returns the text of a message, which is a text or a list with text parts. */
export function wordsIn(content: unknown): string | undefined {
  if (typeof content === "string") return content.trim() === "" ? undefined : content;
  if (!Array.isArray(content)) return undefined;
  const parts = content.flatMap((each: unknown) =>
    typeof each === "object" && each !== null && "text" in each && typeof each.text === "string" ? [each.text] : [],
  );
  return parts.length === 0 ? undefined : parts.join(" ");
}

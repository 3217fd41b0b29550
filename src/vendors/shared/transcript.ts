import type { FileHandle } from "node:fs/promises";
import { TRANSCRIPT_FIRST_LINE_BYTES_MAX, TRANSCRIPT_READ_BYTES } from "../../limits/index.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import type { Transcript } from "../../protocol/records/conversation.ts";
import { isErrno } from "../../state/files.ts";
import { openRegular } from "../../state/open-regular.ts";
import { parseObject } from "../../util/fields.ts";

export interface TranscriptLine {
  /** The conversation that the line names. */
  session: string | null;
  /** The version of the program that wrote the line. */
  version: string | null;
  /** The folder the conversation began in. */
  cwd?: string | undefined;
  /** The line is part of what was said, not only about the conversation; true by default. */
  spoken?: boolean;
  /** The folder the agent was in when it wrote the line, for a listing. */
  seenIn?: string | undefined;
  /** The words of a person in the line, for a listing. */
  words?: string | undefined;
}

export interface TranscriptForm {
  read(line: Readonly<Record<string, unknown>>): TranscriptLine;
  /** The first line names the conversation, and the vendor refuses a file without it. */
  header: boolean;
  /** The vendor writes the file before anything is said: a transcript in which nothing was said is whole. */
  atBirth?: true;
}

/**
 * Probes a transcript of JSON lines. Its beginning and its end are read, however long it is. A last line that was cut
 * off by a kill is no damage, nor is a bad one in between: the vendors skip them. No readable line at all, lines of
 * another conversation, or a header that cannot be read, is.
 */
export async function probeLines(file: string, session: string, form: TranscriptForm): Promise<Transcript> {
  let handle: FileHandle | null = null;
  try {
    handle = await openRegular(file);
    return await probeOpen(handle, file, session, form);
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return { state: "absent" };
    if (isPerdureError(error)) return { state: "damaged", file, why: "it is not a file", bytes: 0 };
    const why = `it cannot be read (${error instanceof Error && "code" in error ? String(error.code) : String(error)})`;
    return { state: "damaged", file, why, bytes: 0 };
  } finally {
    await handle?.close();
  }
}

async function probeOpen(handle: FileHandle, file: string, session: string, form: TranscriptForm): Promise<Transcript> {
  const { size } = await handle.stat();
  if (size === 0) return { state: "empty", file };
  const head = await headOf(handle, size, form.header);
  const from = Math.max(Buffer.byteLength(head), size - TRANSCRIPT_READ_BYTES);
  const tail = from < size ? await readPart(handle, from, size - from) : "";
  const damaged = (why: string): Transcript => ({ state: "damaged", file, bytes: size, why });
  const lines = [...parseLines(head), ...parseLines(tail)].map((line) => form.read(line));
  const named = lines.filter((line) => line.session !== null);
  const otherSession = named.find((line) => line.session !== session)?.session;
  if (!named.some((line) => line.session === session)) {
    // A single line may be longer than the part that is read, for example with an image; its beginning names the conversation.
    const giant = lines.length === 0 && head.startsWith("{") && head.includes(`"${session}"`);
    if (giant) return { state: "good", file, bytes: size, version: null };
    if (lines.length === 0) return damaged("none of its lines can be read");
    return damaged(otherSession ? `it belongs to conversation ${otherSession}` : "no line names its conversation");
  }
  if (form.header && !isHeader(head, session, form)) return damaged("its first line cannot be read");
  const silent = lines.every(({ spoken }) => spoken === false);
  // A prompt may be longer than the parts that are read: what lies between them is not nothing.
  const isReadWhole = from === Buffer.byteLength(head);
  if (silent && isReadWhole && form.atBirth !== true) return { state: "empty", file };
  const version = lines.findLast((line) => line.version !== null)?.version ?? null;
  const cwd = lines.find((line) => line.cwd !== undefined)?.cwd;
  // Only a transcript that was read completely is known to be unsaid: an unreadable line may hold anything.
  const unsaid = silent && isReadWhole && lines.length === linesIn(head + tail);
  return { state: "good", file, bytes: size, version, cwd, ...(unsaid && { unsaid }) };
}

function linesIn(text: string): number {
  return text.split("\n").filter((line) => line !== "").length;
}

function isHeader(head: string, session: string, form: TranscriptForm): boolean {
  const line = parseObject(head.split("\n", 1)[0] ?? "");
  return line !== null && form.read(line).session === session;
}

/** Reads the beginning of the file; more than usual only if the header is longer than that. */
async function headOf(handle: FileHandle, size: number, header: boolean): Promise<string> {
  const head = await readPart(handle, 0, Math.min(size, TRANSCRIPT_READ_BYTES));
  if (!header || head.includes("\n") || size <= TRANSCRIPT_READ_BYTES) return head;
  return readPart(handle, 0, Math.min(size, TRANSCRIPT_FIRST_LINE_BYTES_MAX));
}

export async function readPart(handle: FileHandle, from: number, length: number): Promise<string> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await handle.read(buffer, 0, length, from);
  return buffer.toString("utf8", 0, bytesRead);
}

export function parseLines(text: string): Record<string, unknown>[] {
  return text.split("\n").flatMap((line) => {
    const value = parseObject(line);
    return value === null ? [] : [value];
  });
}

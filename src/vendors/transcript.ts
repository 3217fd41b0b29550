import { open, type FileHandle } from "node:fs/promises";
import { TRANSCRIPT_LOOK_BYTES } from "../limits.ts";
import { isErrno } from "../state/files.ts";
import type { Transcript } from "../protocol/session.ts";

/** One parsed line says whether it belongs to the conversation, and which version of the program wrote it. */
export type LineReader = (line: Readonly<Record<string, unknown>>) => {
  session: string | null;
  version: string | null;
};

/**
 * A transcript of JSON lines. Its beginning and its end are read, however long it is. A last line that was cut off by a
 * kill is no damage, nor is a bad one in between: the vendors skip them. No readable line at all, or lines of
 * another conversation, is.
 */
export async function probeLines(file: string, session: string, read: LineReader): Promise<Transcript> {
  let handle: FileHandle;
  try {
    handle = await open(file, "r");
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return { state: "absent" };
    const why = `it cannot be read (${error instanceof Error && "code" in error ? String(error.code) : "error"})`;
    return { state: "damaged", file, why, bytes: 0 };
  }
  try {
    const { size } = await handle.stat();
    if (size === 0) return { state: "empty", file };
    const head = await part(handle, 0, Math.min(size, TRANSCRIPT_LOOK_BYTES));
    const from = Math.max(head.length, size - TRANSCRIPT_LOOK_BYTES);
    const tail = from < size ? await part(handle, from, size - from) : "";
    const lines = [...parsed(head), ...parsed(tail)].map(read);
    // One line longer than the look: an image, say. It begins as a line does and names the conversation.
    if (lines.length === 0 && head.startsWith("{") && head.includes(`"${session}"`)) {
      return { state: "good", file, bytes: size, version: null };
    }
    return judge(file, size, session, lines);
  } finally {
    await handle.close();
  }
}

function judge(file: string, bytes: number, session: string, lines: ReturnType<LineReader>[]): Transcript {
  if (lines.length === 0) return { state: "damaged", file, bytes, why: "no line of it can be read" };
  const named = lines.filter((line) => line.session !== null);
  const stranger = named.find((line) => line.session !== session);
  if (!named.some((line) => line.session === session)) {
    const why = stranger ? `it is of conversation ${stranger.session}` : "no line names its conversation";
    return { state: "damaged", file, bytes, why };
  }
  return { state: "good", file, bytes, version: lines.findLast(({ version }) => version !== null)?.version ?? null };
}

async function part(handle: FileHandle, from: number, length: number): Promise<string> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await handle.read(buffer, 0, length, from);
  return buffer.toString("utf8", 0, bytesRead);
}

function parsed(text: string): Record<string, unknown>[] {
  return text.split("\n").flatMap((line) => {
    const value = parseObject(line);
    return value === null ? [] : [value];
  });
}

/** Null for anything that is not an object: half a line, garbage, a file its writer is in the middle of. */
export function parseObject(text: string): Record<string, unknown> | null {
  if (!text.includes("{")) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

export function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

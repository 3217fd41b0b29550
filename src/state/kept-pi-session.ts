import {
  chmodSync,
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  utimesSync,
} from "node:fs";
import { join } from "node:path";
import { PI_SESSION_COMPARE_BYTES, PI_SESSION_HEADER_BYTES } from "../limits/index.ts";
import { PerdureError } from "../protocol/errors.ts";
import { fileNameOf } from "../protocol/foreign-id.ts";
import type { Environment } from "../util/environment.ts";
import { irregularity, NO_WAIT } from "./bounded-read.ts";
import { statIfThere } from "./files.ts";
import { copyRegular } from "./open-regular.ts";
import { stateFolder } from "./paths.ts";
import { makeSafeFolder } from "./safe-folder.ts";
import { fieldsOf, textOf } from "../util/fields.ts";

// The file of a key is not ours alone: whoever cleans up may take it, and Pi would then begin anew under the same path, in silence. So it
// is copied at each call, and what was known once comes back, or the call is refused.

export interface PiSessionFiles {
  key: string;
  /** The file that Pi is given. */
  file: string;
  /** The copy that was made when it was last asked for. */
  copy: string;
}

/** Returns the file of a key in a state folder, and its copy, which lies apart so that one clean-up does not take both. */
export function piSessionFiles(env: Environment, key: string): PiSessionFiles {
  const dir = stateFolder(env);
  const [folder, copies] = [join(dir, PI_SESSIONS), join(dir, "pi-session-copies")];
  for (const each of [dir, folder, copies]) makeSafeFolder(each);
  const name = `${fileNameOf(key)}.jsonl`;
  return { key, file: join(folder, name), copy: join(copies, name) };
}

/** The variable in which a command that locks a session file finds its path. */
export const PI_SESSION_VARIABLE = "PERDURE_PI_SESSION";

/** The folder of the session files, in the state folder. */
export const PI_SESSIONS = "pi-sessions";

/** Copies the file as it is now, or puts the copy back where the file is gone; throws where it is another conversation than before. */
export async function keepPiSession({ key, file, copy }: PiSessionFiles): Promise<"unchanged" | "restored"> {
  const stats = statIfThere(file);
  const problem = irregularity(stats);
  if (problem !== null) throw new PerdureError("unsafe", `${file} ${problem}.`, { hint: "remove it" });
  const kept = statIfThere(copy);
  if (stats === undefined || stats.size === 0) {
    if (kept === undefined) return "unchanged"; // it was never written to
    await putBack(copy, file);
    return "restored";
  }
  if (kept !== undefined) {
    if (kept.size === stats.size && kept.mtimeMs === stats.mtimeMs) return "unchanged";
    if (!goesOn(copy, file)) throw changedError(key, file, copy);
  }
  await replaceDurably(file, copy);
  utimesSync(copy, stats.atime, stats.mtime);
  return "unchanged";
}

/** Takes the file as it is, or the lack of one, and keeps what was copied before beside it. */
export function forgetCopy({ copy }: Pick<PiSessionFiles, "copy">): void {
  if (statIfThere(copy) !== undefined) renameSync(copy, `${copy}.before-${Date.now()}`);
}

/** Sets the file and its copy aside, so that the key begins a new conversation. */
export function setSessionAside({ file, copy }: Pick<PiSessionFiles, "file" | "copy">): void {
  if (statIfThere(file) !== undefined) renameSync(file, `${file}.before-${Date.now()}`);
  forgetCopy({ copy });
}

/** Reads whose conversation a session file holds, and where it began; null for a file that is none of Pi's. */
export function headerOf(file: string): { id: string; cwd: string | null } | null {
  const [line = ""] = readAt(file, 0, PI_SESSION_HEADER_BYTES).toString("utf8").split("\n");
  const header = parsed(line);
  const id = textOf(header.id);
  return header.type === "session" && id !== null ? { id, cwd: textOf(header.cwd) } : null;
}

function parsed(line: string): Record<string, unknown> {
  try {
    return fieldsOf(JSON.parse(line));
  } catch {
    return {}; // it is no JSON, so no header
  }
}

/**
 * Tells whether a file goes on where its copy ends: Pi only appends. A later version of Pi may write a file anew, in its own form, and
 * the conversation stays the one that the first line names; a file of another conversation, or a cut one, is neither.
 */
function goesOn(copy: string, file: string): boolean {
  const [before, now] = [statIfThere(copy)?.size ?? 0, statIfThere(file)?.size ?? 0];
  const tail = Math.max(0, before - PI_SESSION_COMPARE_BYTES);
  const same = (at: number, bytes: number): boolean => readAt(copy, at, bytes).equals(readAt(file, at, bytes));
  if (now >= before && same(0, Math.min(before, PI_SESSION_COMPARE_BYTES)) && same(tail, before - tail)) return true;
  const id = headerOf(copy)?.id;
  return id !== undefined && headerOf(file)?.id === id && linesIn(file) >= linesIn(copy);
}

function linesIn(file: string): number {
  let lines = 0;
  for (let at = 0; ;) {
    const chunk = readAt(file, at, PI_SESSION_COMPARE_BYTES);
    if (chunk.length === 0) return lines;
    for (const byte of chunk) if (byte === NEWLINE) lines++;
    at += chunk.length;
  }
}

const NEWLINE = 10;

function readAt(file: string, at: number, bytes: number): Buffer {
  const fd = openSync(file, NO_WAIT);
  try {
    const buffer = Buffer.alloc(bytes);
    let length = 0;
    while (length < bytes) {
      const read = readSync(fd, buffer, length, bytes - length, at + length);
      if (read === 0) break;
      length += read;
    }
    return buffer.subarray(0, length);
  } finally {
    closeSync(fd);
  }
}

async function replaceDurably(source: string, target: string): Promise<void> {
  await writeDurably(source, target, () => undefined);
}

/** Puts a copy back without half a line at its end, behind which Pi would write on. */
async function putBack(copy: string, file: string): Promise<void> {
  await writeDurably(copy, file, (fd, temporary) => {
    const { size } = fstatSync(fd);
    const at = Math.max(0, size - PI_SESSION_COMPARE_BYTES);
    const end = readAt(temporary, at, size - at).lastIndexOf(NEWLINE);
    if (end >= 0) ftruncateSync(fd, at + end + 1);
  });
}

async function writeDurably(
  source: string,
  target: string,
  finish: (fd: number, temporary: string) => void,
): Promise<void> {
  const temporary = `${target}.${process.pid}.tmp`;
  rmSync(temporary, { force: true });
  await copyRegular(source, temporary);
  chmodSync(temporary, 0o600);
  const fd = openSync(temporary, "r+");
  try {
    finish(fd, temporary);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(temporary, target);
}

function changedError(key: string, file: string, copy: string): PerdureError {
  const sizes = `it has ${statIfThere(file)?.size} bytes, and had ${statIfThere(copy)?.size}`;
  return new PerdureError(
    "refused",
    `The Pi session of ${JSON.stringify(key)} is not the one it was (${sizes}): ${file}`,
    {
      hint: `perdure's copy: ${copy}; take the file as it is: --accept; begin anew: --fresh`,
    },
  );
}

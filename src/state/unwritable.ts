import { accessSync, closeSync, constants, openSync, statSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import type { Unwritable } from "../protocol/records/conversation.ts";
import { isErrno } from "./files.ts";

/** The flags of an open that shows whether a file can be appended to, and changes nothing: not even its times. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK | constants.O_NOCTTY;

const WORDS = {
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EROFS: "read-only file system",
} as const;

/**
 * Returns what keeps this user from appending to a file, or from making one: the file itself, or, if that does not exist or is out of
 * reach, the nearest folder above it. Null if nothing does, and for what is neither a file nor a folder. Nothing is created or changed.
 */
export function unwritableAt(path: string): Unwritable | null {
  try {
    const stats = statAt(path);
    if (stats === null) return dirname(path) === path ? null : unwritableAt(dirname(path));
    const code = errorOf(path, stats);
    const isOwn = stats.uid === process.geteuid?.();
    return code && { path, isFolder: stats.isDirectory(), isOwn, code, why: WORDS[code] };
  } catch {
    // Any other error says nothing about permissions: whoever reads or writes the file tells it in its own words.
    return null;
  }
}

/** Looks at what is there; null where nothing is, or a folder above does not let it be seen. */
function statAt(path: string): Stats | null {
  try {
    return statSync(path);
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR", "EACCES")) return null;
    throw error;
  }
}

function errorOf(path: string, stats: Stats): Unwritable["code"] | null {
  try {
    if (stats.isDirectory()) accessSync(path, constants.W_OK | constants.X_OK);
    else if (stats.isFile()) closeSync(openSync(path, APPEND));
    return null;
  } catch (error) {
    const code = (Object.keys(WORDS) as Unwritable["code"][]).find((each) => isErrno(error, each));
    if (code !== undefined) return code;
    throw error;
  }
}

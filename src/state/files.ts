import {
  chmodSync,
  closeSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
  type BigIntStats,
  type Stats,
} from "node:fs";
import { QUOTA_PROBE_BYTES } from "../limits/index.ts";
import { errnoName } from "../util/errno-name.ts";

/**
 * Writes a file by rename, so that a reader sees the old text or the new one. Whatever has the temporary name is removed first: in a
 * folder that is not ours alone it may be a fifo, which would wait, or a link to somewhere else.
 */
export function writeFileAtomic(file: string, text: string, mode = 0o600): void {
  const temporary = `${file}.${process.pid}.tmp`;
  rmSync(temporary, { force: true });
  writeFileSync(temporary, text, { mode: 0o600, flag: "wx" });
  if (mode !== 0o600) chmodSync(temporary, mode);
  renameSync(temporary, file);
}

export function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return null;
    throw error;
  }
}

/** Returns what is known of a file that is not ours; undefined for one that is missing, out of reach, or behind links in a circle. */
export function statIfThere(file: string): Stats | undefined {
  return withoutUnreachable(() => statSync(file));
}

/** Like `statIfThere`, with sizes and times to the last digit. */
export function statExactly(file: string): BigIntStats | undefined {
  return withoutUnreachable(() => statSync(file, { bigint: true }));
}

/** Tells whether two paths lead to the same file or folder. */
export function isSameFile(a: string, b: string): boolean {
  if (a === b) return true;
  const [first, second] = [statExactly(a), statExactly(b)];
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}

function withoutUnreachable<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR", "ELOOP", "EACCES", "EPERM", "ENAMETOOLONG")) return undefined;
    throw error;
  }
}

/** Identifies the file that is at a path now, so that one that was removed or replaced is noticed; null if there is none. */
export function fileIdentity(path: string): string | null {
  const stats = statIfThere(path);
  return stats === undefined ? null : `${stats.dev}:${stats.ino}`;
}

/** Tells whether a path is a folder that can be entered; a path that cannot be read is none. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Tells, by trying, whether the disk of a folder is full or its user's quota is used up. */
export function isQuotaUsedUp(folder: string): boolean {
  const file = `${folder}/quota.${process.pid}.tmp`;
  let fd: number | null = null;
  try {
    fd = openSync(file, "w", 0o600);
    writeSync(fd, Buffer.alloc(QUOTA_PROBE_BYTES), 0, QUOTA_PROBE_BYTES, 0);
    return false;
  } catch (error) {
    return isErrno(error, "EDQUOT", "ENOSPC");
  } finally {
    if (fd !== null) closeSync(fd);
    rmSync(file, { force: true });
  }
}

export function isErrno(error: unknown, ...codes: string[]): boolean {
  const name = errnoName(error);
  return name !== null && codes.includes(name);
}

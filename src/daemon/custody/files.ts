import { lstatSync, readdirSync, type BigIntStats } from "node:fs";
import { isErrno, statExactly, statIfThere } from "../../state/files.ts";
import type { FileCopy } from "../../store/custody.ts";

export function sizeOf(file: string | null): number | null {
  return file === null ? null : (statIfThere(file)?.size ?? null);
}

/** Returns a name that no file has yet, so that files which were set aside earlier stay. */
export function freeName(base: string): string {
  let name = base;
  for (let n = 2; lstatSync(name, { throwIfNoEntry: false }); n++) name = `${base}-${n}`;
  return name;
}

export function isSourceUnchanged(record: FileCopy, file: string): boolean {
  const stat = statExactly(file);
  if (stat === undefined || Number(stat.size) !== record.sourceBytes) return false;
  // A copy of the version before knows the time of modification only.
  const isOlder = !record.sourceChanged.includes(" ");
  return record.sourceChanged === (isOlder ? String(stat.mtimeNs) : changeMark(stat));
}

export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
}

/** Marks when and as which file a transcript was last changed: its time of modification alone can be set by anybody. */
export function changeMark({ mtimeNs, ctimeNs, ino }: Pick<BigIntStats, "mtimeNs" | "ctimeNs" | "ino">): string {
  return `${mtimeNs} ${ctimeNs} ${ino}`;
}

import { existsSync, lstatSync } from "node:fs";
import { dirname, resolve, sep } from "node:path";
import { isErrno } from "../state/files.ts";
import { realPath } from "../state/paths.ts";

/**
 * The path in full, or null when it leaves the folder: by `..`, as an absolute path elsewhere, or through a link. The files of a
 * stranger's repository name paths, and what is outside is not theirs.
 */
export function pathInside(folder: string, path: string): string | null {
  if (path.includes("\0")) return null;
  const full = resolve(folder, path);
  if (!isIn(folder, full) || isDanglingLink(full)) return null;
  return isIn(realPath(folder), realPath(full)) ? full : null;
}

function isIn(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

/** A link whose end is not there (yet), or a ring of them: where it will lead nobody knows. */
function isDanglingLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink() && !existsSync(path);
  } catch (error) {
    if (isErrno(error, "ELOOP")) return true;
    if (!isErrno(error, "ENOENT", "ENOTDIR", "EACCES")) throw error;
    return dirname(path) !== path && isDanglingLink(dirname(path));
  }
}

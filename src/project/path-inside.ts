import { existsSync, lstatSync } from "node:fs";
import { dirname, resolve, sep } from "node:path";
import { isErrno } from "../state/files.ts";
import { realPath } from "../state/paths.ts";

/**
 * Returns the absolute path, or null when it leaves the folder: by `..`, as an absolute path elsewhere, or through a link. A
 * foreign repository must not name files outside of itself.
 */
export function pathInside(folder: string, path: string): string | null {
  if (path.includes("\0")) return null;
  const full = resolve(folder, path);
  if (!isIn(folder, full) || isDanglingLink(full)) return null;
  return isIn(realPath(folder), realPath(full)) ? full : null;
}

/** Tells, by the words alone, whether a path is a folder or lies inside it. */
export function isIn(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

/** True for a link that leads to nothing yet, and for a ring of links: nobody knows where it will lead. */
function isDanglingLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink() && !existsSync(path);
  } catch (error) {
    if (isErrno(error, "ELOOP")) return true;
    if (!isErrno(error, "ENOENT", "ENOTDIR", "EACCES", "ENAMETOOLONG")) throw error;
    return dirname(path) !== path && isDanglingLink(dirname(path));
  }
}

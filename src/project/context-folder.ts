import { lstatSync, mkdirSync, realpathSync } from "node:fs";
import { dirname, sep } from "node:path";
import { PerdureError } from "../protocol/errors.ts";
import { isErrno } from "../state/files.ts";

/** Makes a folder of context files, unless something that came with the repository is in its way. */
export function makeFolderInside(root: string, folder: string): void {
  requireInside(root, folder);
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    if (!isErrno(error, "EEXIST", "ENOTDIR")) throw error;
    throw inTheWay(folder, "is not a folder");
  }
  requireInside(root, folder);
}

/** Throws if a path leads outside the project: a foreign repository may have a symbolic link where the context folder should be. */
export function requireInside(root: string, path: string): void {
  const real = realpathOfExisting(path);
  if (real === root || real.startsWith(root + sep)) return;
  throw inTheWay(path, `leads outside the project, to ${real}`);
}

/** Resolves the links of a path, or of as much of it as exists. */
function realpathOfExisting(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (isErrno(error, "ELOOP")) throw inTheWay(path, "is a link that leads in a circle");
    if (isErrno(error, "ENOTDIR")) throw inTheWay(dirname(path), "is not a folder");
    if (isErrno(error, "ENAMETOOLONG")) throw inTheWay(path, "has a name that is too long");
    if (isErrno(error, "EACCES")) throw inTheWay(path, "is behind a folder that cannot be entered");
    if (!isErrno(error, "ENOENT") || dirname(path) === path) throw error;
    // Nobody knows what a link that leads to nothing will lead to.
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) throw inTheWay(path, "is a dangling link");
    return realpathOfExisting(dirname(path));
  }
}

function inTheWay(path: string, problem: string): PerdureError {
  return new PerdureError("unsafe", `${path} ${problem}.`, { hint: "remove it, or name another folder with --dir" });
}

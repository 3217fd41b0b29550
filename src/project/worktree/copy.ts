import { constants, lstatSync, mkdirSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { PerdureError } from "../../protocol/errors.ts";
import { isErrno, statIfThere } from "../../state/files.ts";
import { copyRegular } from "../../state/open-regular.ts";
import { realPath } from "../../state/paths.ts";
import { pathInside } from "../path-inside.ts";

/** True for a relative path to something below the tree that is not part of git itself. */
export function isCopyable(root: string, path: string): boolean {
  const full = path.startsWith("/") ? null : pathInside(root, path);
  if (full === null || full === root) return false;
  return ![full, realPath(full)].some((each) => each.split(sep).includes(".git"));
}

/** Checks the files before anything is made, so that a bad one does not leave half a worktree behind. */
export function checkCopies(root: string, copy: readonly string[]): void {
  for (const path of copy) {
    const copyError = (why: string, hint: string): Error =>
      new PerdureError("refused", `${path} cannot be copied into a new worktree: ${why}.`, { hint });
    if (!isCopyable(root, path)) throw copyError("it is not inside the project", "remove it from copy in perdure.toml");
    const stats = statIfThere(join(root, path));
    if (stats === undefined)
      throw copyError(`it does not exist in ${root}`, "create it, or remove it from copy in perdure.toml");
    if (!stats.isFile()) throw copyError("it is not a file", "name the files in it");
  }
}

/** Copies the files into a new tree; a file that the tree has already stays as it is. */
export async function copyInto(tree: string, root: string, copy: readonly string[]): Promise<void> {
  for (const path of copy) {
    const target = join(tree, relative(root, join(root, path)));
    makeFolders(tree, dirname(target));
    try {
      await copyRegular(join(root, path), target, constants.COPYFILE_EXCL);
    } catch (error) {
      if (!isErrno(error, "EEXIST")) throw error;
    }
  }
}

/** Makes the folders one by one: a link that git checked out could lead out of the tree. */
function makeFolders(tree: string, folder: string): void {
  if (folder === tree) return;
  makeFolders(tree, dirname(folder));
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) mkdirSync(folder);
  else if (!stats.isDirectory()) {
    throw new PerdureError("refused", `${folder} is not a folder; nothing is copied through it.`, {
      hint: "remove the file below it from copy in perdure.toml",
    });
  }
}

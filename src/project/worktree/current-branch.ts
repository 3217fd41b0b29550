import { dirname, join, resolve } from "node:path";
import { GIT_FILE_BYTES_MAX } from "../../limits/index.ts";
import { readIfReadable } from "../../state/bounded-read.ts";

/**
 * Returns the branch that is checked out where a folder lies, or the beginning of the commit; null outside a working tree. It reads
 * one or two of git's small files and starts no git.
 */
export function branchOf(folder: string): string | null {
  for (let tree = resolve(folder); ; tree = dirname(tree)) {
    const head = headOf(tree);
    // A repository whose refs are in tables has a branch here that does not exist.
    if (head === "ref: refs/heads/.invalid") return null;
    if (head !== "") return /^ref: refs\/heads\/(.+)$/m.exec(head)?.[1] ?? head.slice(0, SHORT_COMMIT);
    if (dirname(tree) === tree) return null;
  }
}

const SHORT_COMMIT = 7;

function headOf(tree: string): string {
  const pointer = /^gitdir: (.+)$/m.exec(readIfReadable(join(tree, ".git"), GIT_FILE_BYTES_MAX))?.[1];
  const gitDir = pointer === undefined ? join(tree, ".git") : resolve(tree, pointer.trim());
  return readIfReadable(join(gitDir, "HEAD"), GIT_FILE_BYTES_MAX).trim();
}

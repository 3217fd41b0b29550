import { basename, dirname, join } from "node:path";

/** A working tree of a worker's own. */
export interface Worktree {
  path: string;
  branch: string;
  /** Files that git ignores, copied once when the tree is made. */
  copy: string[];
}

/**
 * `api.worktrees/coder-1` beside `api`: out of the main tree, where it would dirty `git status` or need an entry in somebody's
 * ignore file, be searched and built along with everything, and be lost to `git clean -ffdx`; not in `.git` or the state folder,
 * where tools look away and nobody finds the work. Named after the repository, so that it is the same from every tree.
 */
export function worktreePath(repository: string, name: string): string {
  return join(dirname(repository), `${basename(repository).replace(/(.)\.git$/, "$1")}.worktrees`, name);
}

/** Git takes no branch that ends in `.lock`, but a worker may; no name ends in `-`, so the branch is nobody else's. */
export function worktreeBranch(name: string): string {
  return `perdure/${name.toLowerCase().endsWith(".lock") ? `${name}-` : name}`;
}

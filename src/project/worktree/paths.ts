import { basename, dirname, join } from "node:path";

/** A git working tree that belongs to one worker. */
export interface Worktree {
  path: string;
  branch: string;
  /** The files that git ignores and that are copied once when the tree is made. */
  copy: string[];
  /** Git's hooks, and a file system monitor of the repository's, run when the tree is made. */
  hooks?: boolean;
}

/**
 * Returns `api.worktrees/coder-1` beside `api`. Inside the main tree a worktree would show in `git status`, be searched and built
 * along with everything, and be lost to `git clean -ffdx`; in `.git` or the state folder tools would skip it and nobody would find
 * the work. The path is made from the repository, so that it is the same from every tree.
 */
export function worktreePath(repository: string, name: string): string {
  return join(dirname(repository), `${basename(repository).replace(/(.)\.git$/, "$1")}.worktrees`, name);
}

/** Returns the worker's branch. Git refuses one that ends in `.lock`; no name ends in `-`, so an appended one is unique. */
export function worktreeBranch(name: string): string {
  return `perdure/${name.toLowerCase().endsWith(".lock") ? `${name}-` : name}`;
}

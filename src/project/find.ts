import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { GIT_FILE_BYTES_MAX } from "../limits/index.ts";
import { isPerdureError } from "../protocol/errors.ts";
import { slugName } from "../protocol/names.ts";
import { readBounded, readIfReadable } from "../state/bounded-read.ts";
import { isErrno } from "../state/files.ts";
import { Owners } from "./owners.ts";

/** The folder a command was called from, as a project. */
export interface FoundProject {
  kind: "repository" | "folder";
  /** The real path of the git common dir, which all worktrees share, or of the folder. */
  identity: string;
  /** The main working tree, the repository itself if it is bare, or the folder. */
  root: string;
  /** The working tree the caller stands in. */
  here: string;
  /** The slug that the project gets if no other project has it. */
  base: string;
  /** The nearest `.git` or perdure.toml above that is another user's, and does not make the project for that reason. */
  passedOver?: { file: string; uid: number };
}

export const CONFIG_FILE = "perdure.toml";

export function findProject(cwd: string): FoundProject {
  const start = realpathSync.native(cwd);
  const owners = new Owners(start);
  const found = findRepository(start, owners) ?? findFolder(start, owners);
  return owners.passedOver === null ? found : { ...found, passedOver: owners.passedOver };
}

/** Returns the folder of the project's only fleet file: the main tree, or the caller's own for a bare repository. */
export function fleetRoot({ kind, identity, root, here }: FoundProject): string {
  return kind === "repository" && root === identity ? here : root;
}

/** Returns the folder that stands for the repository in all of its trees: the main tree, else the repository itself. */
export function repositoryOf({ kind, identity, root }: FoundProject): string {
  return kind === "folder" ? root : rootOf(identity, identity, true);
}

/** Finds the project of a folder that may be gone, or whose git cannot be read: null then. */
export function findProjectIfThere(folder: string): FoundProject | null {
  try {
    return findProject(folder);
  } catch (error) {
    if (isPerdureError(error) || isErrno(error, "ENOENT", "ENOTDIR", "EACCES", "ELOOP")) return null;
    throw error;
  }
}

/** Returns where the nearest `.git` file of a folder or its ancestors leads, if nothing is there; null without one. */
export function danglingGitDir(start: string): { tree: string; gitDir: string } | null {
  for (const tree of selfAndAncestors(start)) {
    const pointer = GIT_POINTER.exec(readIfReadable(join(tree, ".git"), GIT_FILE_BYTES_MAX))?.[1];
    if (pointer === undefined) continue;
    const gitDir = resolve(tree, pointer.trim());
    return exists(join(gitDir, "HEAD")) ? null : { tree, gitDir };
  }
  return null;
}

const GIT_POINTER = /^gitdir: (.+)$/m;

/** Lists the existing working trees of the project: the main one and those that git has linked. */
export function workingTrees({ kind, identity, root, here }: FoundProject): string[] {
  if (kind === "folder") return [root];
  const links = join(identity, "worktrees");
  const linked = (kindOf(links) === "folder" ? readdirSync(links) : []).map((name) =>
    readGitFile(join(links, name, "gitdir")),
  );
  const trees = linked.flatMap((pointer) => (pointer === null ? [] : [dirname(pointer.trim())]));
  return [...new Set([root, here, ...trees.filter(exists).map((tree) => realpathSync(tree))])];
}

function findRepository(start: string, owners: Owners): FoundProject | null {
  for (const folder of selfAndAncestors(start)) {
    const git = gitDirs(folder);
    if (git === null || !git.files.every((file) => owners.mayRule(file, folder))) continue;
    const identity = realpathSync(git.common);
    const root = rootOf(identity, folder, git.shared);
    const label = basename(root).replace(/\.git$/, "");
    return { kind: "repository", identity, root, here: folder, base: slugName(label || "root") };
  }
  return null;
}

/** Finds the project outside a repository: the nearest folder with a perdure.toml, else the folder itself. */
function findFolder(start: string, owners: Owners): FoundProject {
  const configured = selfAndAncestors(start).find((folder) => {
    const file = join(folder, CONFIG_FILE);
    return exists(file) && owners.mayRule(file, folder);
  });
  const root = configured ?? start;
  return { kind: "folder", identity: root, root, here: root, base: slugName(basename(root) || "root") };
}

/** Reads `.git` like git does, without starting git: it is a folder, or a file that points to one. */
function gitDirs(folder: string): GitDirs | null {
  const dotGit = join(folder, ".git");
  const kind = kindOf(dotGit);
  if (kind === "folder")
    return exists(join(dotGit, "HEAD")) ? { common: dotGit, shared: false, files: [dotGit] } : null;
  if (kind === "file") return linkedDirs(folder, dotGit);
  return isBareRepository(folder) ? { common: folder, shared: true, files: [join(folder, "HEAD")] } : null;
}

interface GitDirs {
  common: string;
  /** Whether other working trees use the same folder; a submodule has one of its own. */
  shared: boolean;
  /** The files that make the folder a repository: whoever owns them decides what its project is. */
  files: string[];
}

function rootOf(identity: string, here: string, shared: boolean): string {
  if (basename(identity) === ".git") return dirname(identity);
  return shared ? (submoduleTree(identity) ?? identity) : here;
}

/** Reads the main tree of a submodule from its git dir, which is the only place that tells its linked worktrees. */
function submoduleTree(identity: string): string | null {
  const tree = /^\s*worktree\s*=\s*(.+?)\s*$/m.exec(readGitFile(join(identity, "config")) ?? "")?.[1];
  if (tree === undefined) return null;
  const folder = resolve(identity, tree);
  return exists(folder) ? realpathSync(folder) : null;
}

function linkedDirs(folder: string, dotGit: string): GitDirs | null {
  const pointer = GIT_POINTER.exec(readGitFile(dotGit) ?? "")?.[1];
  if (pointer === undefined) return null;
  const gitDir = resolve(folder, pointer.trim());
  if (!exists(join(gitDir, "HEAD"))) return null;
  const common = readGitFile(join(gitDir, "commondir"));
  const files = [dotGit, gitDir];
  if (common === null) return { common: gitDir, shared: false, files };
  return { common: resolve(gitDir, common.trim()), shared: true, files };
}

/** Reads one of git's own small files; null for one that does not exist. */
export function readGitFile(file: string): string | null {
  return readBounded(file, GIT_FILE_BYTES_MAX);
}

function isBareRepository(folder: string): boolean {
  return exists(join(folder, "HEAD")) && exists(join(folder, "objects")) && exists(join(folder, "refs"));
}

function selfAndAncestors(start: string): string[] {
  const folders = [start];
  for (let folder = start; dirname(folder) !== folder;) {
    folder = dirname(folder);
    folders.push(folder);
  }
  return folders;
}

function kindOf(path: string): "folder" | "file" | null {
  try {
    // Most of what is looked for is not there, and an error for each of them would take longer than all the looking.
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return null;
    if (stats.isDirectory()) return "folder";
    return stats.isSymbolicLink() && lstatSync(realpathSync(path)).isDirectory() ? "folder" : "file";
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR", "EACCES", "ELOOP")) return null;
    throw error;
  }
}

function exists(path: string): boolean {
  return kindOf(path) !== null;
}

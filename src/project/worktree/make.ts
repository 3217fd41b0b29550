import { execFile, type ExecFileException } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ASK_PROGRAM_BYTES_MAX, WORKTREE_WAIT_MS } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { shorten } from "../../protocol/names.ts";
import { isErrno } from "../../state/files.ts";
import { realPath } from "../../state/paths.ts";
import { irregularGitFile, NO_PROGRAMS } from "../ask-git.ts";
import { findProject, readGitFile } from "../find.ts";
import { checkCopies, copyInto } from "./copy.ts";
import type { Worktree } from "./paths.ts";
import { shellQuote, shellWords } from "../../util/shell-quote.ts";

/**
 * Makes a worktree once, from what is checked out in `root`, on a branch of its own, which is reused if it exists. An existing
 * worktree is kept in whatever state it is: nothing is ever deleted, reset or overwritten. Only a new one gets the files of `copy`.
 */
export async function makeWorktree(root: string, worktree: Worktree): Promise<{ created: boolean }> {
  const { path, copy } = worktree;
  requireRepository(root);
  const unfinished = join(dirname(path), `.${basename(path)}.new`);
  const exists = isExistingWorktree(root, path);
  if (exists && !existsSync(unfinished)) return { created: false };
  checkCopies(root, copy);
  if (!exists) {
    requireRegularGitFiles(root);
    await requireCommit(root);
    makeWorktreesFolder(dirname(path));
    // The mark stays until the copies are made, so that the next call after a crash continues here.
    writeFileSync(unfinished, "");
    try {
      await addWorktree(root, worktree);
    } catch (error) {
      if (!existsSync(path)) rmSync(unfinished);
      throw error;
    }
  }
  await copyInto(path, root, copy);
  rmSync(unfinished);
  return { created: true };
}

function requireRepository(root: string): void {
  if (findProject(root).kind === "repository") return;
  throw new PerdureError("refused", `${root} is not a git repository, so it has no worktrees.`, {
    hint: "git init and make a first commit, or remove worktree from perdure.toml",
  });
}

/** Throws if git would wait for a fifo, or read a device to its end that it does not have. */
function requireRegularGitFiles(root: string): void {
  const found = irregularGitFile(findProject(root).identity);
  if (found === null) return;
  throw new PerdureError("refused", `${found.file} ${found.problem}, so git cannot be asked.`, {
    hint: shellWords(["ls", "-ld", found.file]),
  });
}

async function requireCommit(root: string): Promise<void> {
  const result = await git(root, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  if (result.status === 0) return;
  // 1 is an answer; any other status is a failure of git, with a reason of its own.
  if (result.status !== 1) throw new PerdureError("refused", `git failed in ${root}: ${reasonOf(result)}.`);
  throw new PerdureError("refused", `${root} has no commit yet for a worktree to start from.`, {
    hint: "git commit --allow-empty -m first",
  });
}

/** Tells whether the path is a worktree of this repository already; throws if something else is there. */
function isExistingWorktree(root: string, path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || (stats.isDirectory() && readdirSync(path).length === 0)) return false;
  const found = stats.isDirectory() ? findProject(path) : null;
  if (found === null || found.here !== realPath(path) || found.identity !== findProject(root).identity) {
    const moved = found?.kind === "folder" && existsSync(join(path, ".git"));
    throw new PerdureError("conflict", `${path} exists and is not a worktree of ${root}.`, {
      hint: moved
        ? `if it is a worktree that was moved: ${shellWords(["git", "-C", root, "worktree", "repair", path])}`
        : `inspect it and move it away: ${shellWords(["ls", "-la", path])}`,
    });
  }
  const gitDir = /^gitdir: (.+)$/m.exec(readGitFile(join(path, ".git")) ?? "")?.[1] ?? "";
  if (readGitFile(join(gitDir, "locked"))?.trim() !== "initializing") return true;
  throw new PerdureError("refused", `Another git is creating ${path}, or was interrupted while creating it.`, {
    hint: `if no git is running: ${shellWords(["git", "-C", root, "worktree", "remove", "-f", "-f", path])}`,
  });
}

/** Makes the folder of all worktrees. In another repository (a submodule's parent) it stays out of `git status`. */
function makeWorktreesFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    if (!isErrno(error, "EACCES", "EPERM", "EROFS")) throw error;
    throw new PerdureError("refused", `The folder for worktrees cannot be created: ${folder}.`, {
      hint: `create it once with you as the owner: sudo install -d -o "$USER" ${shellQuote(folder)}`,
      cause: error,
    });
  }
  if (!lstatSync(folder).isDirectory()) {
    throw new PerdureError("refused", `${folder} is a symbolic link; no worktree is created through it.`, {
      hint: shellWords(["ls", "-ld", folder]),
    });
  }
  const ignore = join(folder, ".gitignore");
  if (findProject(folder).kind === "repository" && !existsSync(ignore)) writeFileSync(ignore, "*\n");
}

async function addWorktree(root: string, { path, branch, hooks = false }: Worktree): Promise<void> {
  const branchLookup = await git(root, ["rev-parse", "--verify", "--quiet", `refs/heads/${branch}`]);
  const target = branchLookup.status === 0 ? [path, branch] : ["--no-track", "-b", branch, path, "HEAD"];
  const result = await git(root, ["worktree", "add", "--quiet", ...target], hooks);
  if (result.status === 0) return;
  const isRegistered = result.stderr.includes("missing but already registered");
  throw new PerdureError("refused", `git could not create the worktree ${path}: ${reasonOf(result)}.`, {
    hint: isRegistered
      ? `restore the folder, or let git forget it: ${shellWords(["git", "-C", root, "worktree", "prune"])}`
      : shellWords(["git", "-C", root, "worktree", "list"]),
  });
}

function reasonOf({ status, stderr }: GitResult): string {
  return /^(?:fatal|error): (.+)$/m.exec(stderr)?.[1] ?? (shorten(stderr.trim()) || `it exited with ${status}`);
}

interface GitResult {
  status: number;
  stderr: string;
}

/**
 * Runs git asynchronously: a big checkout takes time, and the caller has others to answer. The hooks and the file system monitor are
 * programs that the repository's own configuration names, so they run only where the trusted fleet file says so.
 */
async function git(cwd: string, words: string[], hooks = false): Promise<GitResult> {
  const args = [...(hooks ? [] : NO_PROGRAMS), ...words];
  return new Promise((done, fail) => {
    const limits = { timeout: WORKTREE_WAIT_MS, maxBuffer: ASK_PROGRAM_BYTES_MAX };
    execFile("git", args, { cwd, env: cleanEnvironment(), ...limits }, (error, _stdout, stderr) => {
      if (error === null) return done({ status: 0, stderr });
      if (typeof error.code === "number") return done({ status: error.code, stderr });
      fail(gitNotRun(error));
    });
  });
}

function gitNotRun(error: ExecFileException): PerdureError {
  if (error.killed) return new PerdureError("timed-out", `git took longer than ${WORKTREE_WAIT_MS / 1000} s.`);
  const reason = error.code === "ENOENT" ? "it is not on PATH" : error.message;
  return new PerdureError("unavailable", `git cannot be run: ${reason}.`, {
    hint: "install git, or remove worktree from perdure.toml",
    cause: error,
  });
}

/** Drops variables that, inside a git hook or alias, point at another repository. Messages are parsed, so LC_ALL is C. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !GIT_LOCATION_VARIABLES.has(name));
  return { ...Object.fromEntries(kept), LC_ALL: "C", GIT_TERMINAL_PROMPT: "0" };
}

const GIT_LOCATION_VARIABLES: ReadonlySet<string> = new Set([
  "GIT_DIR",
  "GIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_COMMON_DIR",
  "GIT_OBJECT_DIRECTORY",
  "GIT_PREFIX",
]);

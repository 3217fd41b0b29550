import { execFile, type ExecFileException } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ASK_PROGRAM_BYTES_MAX, WORKTREE_WAIT_MS } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { shorten } from "../../protocol/names.ts";
import { isErrno, readIfThere } from "../../state/files.ts";
import { realPath } from "../../state/paths.ts";
import { findProject } from "../find.ts";
import { checkCopies, copyInto } from "./copy.ts";
import type { Worktree } from "./paths.ts";

/**
 * Made once, from what is checked out in `root`, on a branch of its own (which is used again if it is there); kept from then on,
 * whatever state it is in. Nothing is ever deleted, reset or written over. Only one that is new gets the files of `copy`.
 */
export async function makeWorktree(root: string, worktree: Worktree): Promise<{ created: boolean }> {
  const { path, branch, copy } = worktree;
  requireRepository(root);
  const unfinished = join(dirname(path), `.${basename(path)}.new`);
  const kept = isExistingWorktree(root, path);
  if (kept && !existsSync(unfinished)) return { created: false };
  checkCopies(root, copy);
  if (!kept) {
    await requireCommit(root);
    makeWorktreesFolder(dirname(path));
    // Until the copies are there, too: whoever comes after a crash goes on from here.
    writeFileSync(unfinished, "");
    try {
      await addWorktree(root, path, branch);
    } catch (error) {
      if (!existsSync(path)) rmSync(unfinished);
      throw error;
    }
  }
  copyInto(path, root, copy);
  rmSync(unfinished);
  return { created: true };
}

function requireRepository(root: string): void {
  if (findProject(root).kind === "repository") return;
  throw new PerdureError("refused", `${root} is not a git repository, so it has no worktrees.`, {
    hint: "git init, and a first commit; or take worktree out of perdure.toml",
  });
}

async function requireCommit(root: string): Promise<void> {
  const result = await git(root, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  if (result.status === 0) return;
  // 1 is a question answered; anything else is git in trouble, with a reason of its own.
  if (result.status !== 1) throw new PerdureError("refused", `git refuses ${root}: ${reasonOf(result)}.`);
  throw new PerdureError("refused", `${root} has no commit yet that a worktree could begin with.`, {
    hint: "git commit --allow-empty -m first",
  });
}

/** Whether it is this repository's worktree already; an error if something else is in its place. */
function isExistingWorktree(root: string, path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || (stats.isDirectory() && readdirSync(path).length === 0)) return false;
  const found = stats.isDirectory() ? findProject(path) : null;
  if (found === null || found.here !== realPath(path) || found.identity !== findProject(root).identity) {
    const moved = found?.kind === "folder" && existsSync(join(path, ".git"));
    throw new PerdureError("conflict", `${path} is taken by something that is not a worktree of ${root}.`, {
      hint: moved
        ? `if it is one, and was moved: git -C ${root} worktree repair ${path}`
        : `look at it, and move it away: ls -la ${path}`,
    });
  }
  const gitDir = /^gitdir: (.+)$/m.exec(readIfThere(join(path, ".git")) ?? "")?.[1] ?? "";
  if (readIfThere(join(gitDir, "locked"))?.trim() !== "initializing") return true;
  throw new PerdureError("refused", `${path} is being made by another git, or was cut off in the middle of it.`, {
    hint: `if nobody is at it: git -C ${root} worktree remove -f -f ${path}`,
  });
}

/** The folder of all worktrees. In somebody else's repository (a submodule's parent) it keeps out of their `git status`. */
function makeWorktreesFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    if (!isErrno(error, "EACCES", "EPERM", "EROFS")) throw error;
    throw new PerdureError("refused", `The folder for worktrees cannot be made: ${folder}.`, {
      hint: `make it yours once: sudo install -d -o "$USER" ${folder}`,
      cause: error,
    });
  }
  if (!lstatSync(folder).isDirectory()) {
    throw new PerdureError("refused", `${folder} is a link; worktrees are not made through it.`, {
      hint: `ls -ld ${folder}`,
    });
  }
  const ignore = join(folder, ".gitignore");
  if (findProject(folder).kind === "repository" && !existsSync(ignore)) writeFileSync(ignore, "*\n");
}

async function addWorktree(root: string, path: string, branch: string): Promise<void> {
  const branchLookup = await git(root, ["rev-parse", "--verify", "--quiet", `refs/heads/${branch}`]);
  const target = branchLookup.status === 0 ? [path, branch] : ["--no-track", "-b", branch, path, "HEAD"];
  const result = await git(root, ["worktree", "add", "--quiet", ...target]);
  if (result.status === 0) return;
  const isRegistered = result.stderr.includes("missing but already registered");
  throw new PerdureError("refused", `git could not make the worktree ${path}: ${reasonOf(result)}.`, {
    hint: isRegistered
      ? `put the folder back, or let git forget it: git -C ${root} worktree prune`
      : `git -C ${root} worktree list`,
  });
}

function reasonOf({ status, stderr }: GitResult): string {
  return /^(?:fatal|error): (.+)$/m.exec(stderr)?.[1] ?? (shorten(stderr.trim()) || `it ended with ${status}`);
}

interface GitResult {
  status: number;
  stderr: string;
}

/** Not synchronous: a big checkout takes its time, and whoever asks has others to answer. */
async function git(cwd: string, args: string[]): Promise<GitResult> {
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
    hint: "install git, or take worktree out of perdure.toml",
    cause: error,
  });
}

/** Inside a git hook or alias these point at whatever git is at work on there. Messages are read, so in one language. */
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

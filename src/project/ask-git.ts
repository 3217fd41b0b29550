import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import { join, normalize } from "node:path";
import { GIT_ANSWER_BYTES_MAX, GIT_FILE_BYTES_MAX, GIT_MEMORY_KIB } from "../limits/index.ts";
import { irregularity, readForeign } from "../state/bounded-read.ts";
import { isErrno, statIfThere } from "../state/files.ts";

// Git is asked about repositories that nobody has trusted: their configuration names programs, and their files may be anything.

/**
 * Asks git about a repository; null when it fails, takes too long, or would read what is no file. Git runs nothing of the
 * repository's for that: no hook, no file system monitor, and no fetch of objects that a partial clone lacks. It changes nothing.
 */
export function askGit(
  gitDir: string,
  words: readonly string[],
  input: string,
  timeout: number,
  { nobodyWaits = false } = {},
): Promise<string | null> {
  if (irregularGitFile(gitDir) !== null) return Promise.resolve(null);
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const seconds = String(Math.ceil(timeout / 1_000));
  const args = [...OFF, `--git-dir=${gitDir}`, ...words];
  const child = spawn("/bin/sh", ["-c", BOUNDED, "sh", String(GIT_MEMORY_KIB), seconds, ...args], {
    cwd: "/",
    env: gitEnvironment(),
    timeout,
    killSignal: "SIGKILL",
    stdio: ["pipe", "pipe", "ignore"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    if (text.length > GIT_ANSWER_BYTES_MAX) child.kill("SIGKILL");
  });
  child.on("error", () => resolve(null));
  child.on("close", (code) => resolve(code === 0 ? text : null)); // without a git: 127
  child.stdin.on("error", () => undefined); // git has ended before it read everything: its exit code tells
  child.stdin.end(input);
  if (nobodyWaits && child.pid !== undefined) yieldToOthers(child.pid);
  return promise;
}

/** Becomes a git that the kernel bounds in memory and processor time, and that leaves no core. Not every kernel has all of these bounds. */
const BOUNDED = 'for bound in "v $1" "t $2" "c 0"; do ulimit -$bound 2>/dev/null || :; done; shift 2; exec git "$@"';

/** The options by which git runs no hook and no file system monitor, whatever the repository's configuration names. */
export const NO_PROGRAMS = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];

const SETTINGS = [
  "core.warnAmbiguousRefs=false",
  "protocol.allow=never",
  // Packs are looked at through a window: without one, a large pack alone is more than the memory allowed.
  "core.packedGitWindowSize=32m",
  "core.packedGitLimit=256m",
];
const OFF = ["--no-optional-locks", ...NO_PROGRAMS, ...SETTINGS.flatMap((setting) => ["-c", setting])];

/** Refuses by the environment what the repository's configuration could allow again; a git from before one of the two knows the other. */
function gitEnvironment(): Record<string, string> {
  const { PATH = "/usr/bin:/bin", HOME = "/" } = process.env;
  const noFetch = { GIT_NO_LAZY_FETCH: "1", GIT_ALLOW_PROTOCOL: "" };
  return { PATH, HOME, ...noFetch, GIT_NO_REPLACE_OBJECTS: "1", GIT_TERMINAL_PROMPT: "0" };
}

/** The files that git itself opens, without a look at what they are. */
const READ_BY_GIT = [
  "HEAD",
  "config",
  "config.worktree",
  "commondir",
  "packed-refs",
  "index",
  "shallow",
  "info/attributes",
  "info/grafts",
  "objects/info/alternates",
  "objects/info/commit-graph",
];

/** Symbolic references in a row that git follows. */
const SYMREFS = 5;

/** Returns a file, and what is wrong with it, for which git would wait, or which it would read to an end that there is not. */
export function irregularGitFile(gitDir: string): { file: string; problem: string } | null {
  const files = [...READ_BY_GIT.map((name) => join(gitDir, name)), ...headReferences(gitDir)];
  for (const file of files) {
    const stats = statIfThere(file);
    const problem = stats?.isDirectory() ? null : irregularity(stats);
    if (problem !== null) return { file, problem };
  }
  return null;
}

/** Lists the files of the branch that is checked out: HEAD names it, and it may name another one. */
function headReferences(gitDir: string): string[] {
  const files: string[] = [];
  let file = join(gitDir, "HEAD");
  while (files.length < SYMREFS) {
    const found = readForeign(file, GIT_FILE_BYTES_MAX);
    const name = found !== null && "text" in found ? /^ref:\s*(\S+)/.exec(found.text)?.[1] : undefined;
    if (name === undefined || normalize(name) !== name || name.startsWith("..")) return files;
    file = join(gitDir, name);
    files.push(file);
  }
  return files;
}

/** Lets everything else go first. The process may have ended already. */
function yieldToOthers(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch (error) {
    if (!isErrno(error, "ERR_SYSTEM_ERROR", "ESRCH", "EACCES")) throw error;
  }
}

import { lstatSync, statSync } from "node:fs";
import { GIT_CHECK_MS } from "../limits/index.ts";
import { isErrno } from "../state/files.ts";

/**
 * Decides whose `.git` or perdure.toml may make the project of a folder. Another user's `/tmp/.git` must not turn everything below into
 * one project, whose workers then share names and mail; git refuses such a repository, too.
 */
export class Owners {
  readonly #start: string;
  /** The first file that was another user's. */
  passedOver: { file: string; uid: number } | null = null;

  /** `start` is the folder whose project is looked for. */
  constructor(start: string) {
    this.#start = start;
  }

  /** Tells whether the file may make a project of the folder it lies in. */
  mayRule(file: string, folder: string): boolean {
    const uid = ownersOf(file).find((each) => !this.#isTrusted(each));
    if (uid === undefined || isSafeDirectory(folder)) return true;
    this.passedOver ??= { file, uid };
    return false;
  }

  /**
   * Trusts this user and root, who can do anything anyway. Root itself also trusts whoever called sudo, as git does, and whoever owns the
   * folder it stands in: in a container root works in a tree that is its user's outside.
   */
  #isTrusted(uid: number): boolean {
    const own = process.geteuid?.() ?? uid;
    if (uid === own || uid === 0) return true;
    return own === 0 && (String(uid) === process.env.SUDO_UID || ownersOf(this.#start).includes(uid));
  }
}

/** Returns who owns the file and, for a link, what that leads to; nobody where the file is out of reach. */
function ownersOf(file: string): number[] {
  try {
    return [lstatSync(file).uid, statSync(file).uid];
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR", "EACCES", "ELOOP")) return [];
    throw error;
  }
}

/** Tells whether the user's or the system's git configuration names the folder as one that its user trusts, whoever owns it. */
function isSafeDirectory(folder: string): boolean {
  let isSafe = false;
  for (const named of safeDirectories()) {
    if (named === "") isSafe = false;
    else if (named === "*" || named === folder) isSafe = true;
    else if (named.endsWith("/*") && folder.startsWith(named.slice(0, -1))) isSafe = true;
  }
  return isSafe;
}

/** Asks git only where another user's repository was met: it takes some milliseconds. */
function safeDirectories(): string[] {
  // Loaded late, because nearly no command meets such a repository.
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  const words = ["--git-dir=/nonexistent", "config", "--null", "--get-all", "safe.directory"];
  const options = { cwd: "/", encoding: "utf8", timeout: GIT_CHECK_MS } as const;
  return (spawnSync("git", words, options).stdout ?? "").split("\0").slice(0, -1);
}

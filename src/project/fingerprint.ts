import { existsSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import {
  COMMITS_PER_CHECK,
  GIT_CHECK_MS,
  GIT_FILE_BYTES_MAX,
  GIT_WALK_MS,
  REMOTES_MAX,
  ROOT_COMMITS_MAX,
} from "../limits/index.ts";
import { readIfReadable } from "../state/bounded-read.ts";
import { isErrno, statExactly } from "../state/files.ts";
import { sha256 } from "../util/sha256.ts";
import { askGit } from "./ask-git.ts";

// What a project is known by after its folder was moved: the folder itself, and the commits that its history began with.

/**
 * Returns what stays with a folder when it is moved inside its file system: inode and time of birth. The inode alone is given
 * to another folder as soon as this one is deleted. Null when there is no folder.
 */
export function folderMark(folder: string): string | null {
  try {
    const { ino, birthtimeNs, dev } = statSync(folder, { bigint: true });
    return birthtimeNs > 0n ? `${ino} born ${birthtimeNs}` : `${ino} on ${dev}`;
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR", "EACCES", "ELOOP")) return null;
    throw error;
  }
}

/** Tells whether a project is known by git's folder, and not by one without git. */
export function isRepository(identity: string): boolean {
  return basename(identity).endsWith(".git") || existsSync(`${identity}/objects`);
}

/**
 * Returns what changes when a repository gets its first commit: the folder, and when files were last added to it and to its
 * branches, in either of the forms that git keeps them in.
 */
export function branchesMark(gitDir: string): string {
  const parts = ["", "refs/heads", "reftable"].map((name) => statExactly(join(gitDir, name))?.mtimeNs ?? "none");
  return [folderMark(gitDir) ?? "none", ...parts].join(" ");
}

/**
 * Returns the commits without a parent, which every copy of a repository has; null when there are none, or when git did not
 * find them in time. Git walks the whole history for them, so this is not for anybody who waits.
 */
export async function rootCommits(gitDir: string): Promise<string[] | null> {
  const words = ["rev-list", "--max-parents=0", `--max-count=${ROOT_COMMITS_MAX}`, "HEAD", "--"];
  const answer = await askGit(gitDir, words, "", GIT_WALK_MS, { nobodyWaits: true });
  const commits = (answer ?? "").split("\n").filter((line) => COMMIT.test(line));
  return commits.length === 0 ? null : commits.toSorted();
}

/**
 * Returns those of the commits that a repository has; none when git did not tell in time. Git looks each up by its id, however
 * long the history is, and is started once for all of them.
 */
export async function commitsIn(gitDir: string, commits: Iterable<string>): Promise<ReadonlySet<string>> {
  const asked = [...new Set(commits)];
  const found = new Set<string>();
  const words = ["cat-file", "--batch-check=%(objectname) %(objecttype)"];
  for (let at = 0; at < asked.length; at += COMMITS_PER_CHECK) {
    const input = asked.slice(at, at + COMMITS_PER_CHECK).map((commit) => `${commit}\n`);
    const answer = await askGit(gitDir, words, input.join(""), GIT_CHECK_MS);
    if (answer === null) return new Set(); // the next question would take as long
    for (const line of answer.split("\n")) if (line.endsWith(" commit")) found.add(line.slice(0, -" commit".length));
  }
  return found;
}

/** Tells whether git has looked for the commits in a repository and found none of them; false when it did not tell in time. */
export async function lacksCommits(gitDir: string, commits: readonly string[]): Promise<boolean> {
  const asked = commits.slice(0, COMMITS_PER_CHECK);
  const input = asked.map((commit) => `${commit}\n`).join("");
  const answer = await askGit(gitDir, ["cat-file", "--batch-check=%(objectname) %(objecttype)"], input, GIT_CHECK_MS);
  if (answer === null || asked.length === 0) return false;
  return !answer.split("\n").some((line) => line.endsWith(" commit"));
}

const COMMIT = /^[0-9a-f]{40,64}$/;

/**
 * Returns digests of the places that a repository was cloned from, as its configuration names them, whichever way they are
 * reached. A shallow clone lacks the first commits, and has these. Digests, because an address may carry a password.
 */
export function remotesOf(gitDir: string): string[] {
  const found = new Set<string>();
  let isRemote = false;
  for (const line of readIfReadable(join(gitDir, "config"), GIT_FILE_BYTES_MAX).split("\n")) {
    if (/^\s*\[/.test(line)) isRemote = /^\s*\[\s*remote\b/i.test(line);
    const url = isRemote ? /^\s*url\s*=\s*"?(.+?)"?\s*$/i.exec(line)?.[1] : undefined;
    if (url !== undefined && found.size < REMOTES_MAX) found.add(remoteDigest(url));
  }
  return [...found].toSorted();
}

/** Returns the digest of a place that a repository may be cloned from: `git@host:a/b.git` is `https://host/a/b`. */
export function remoteDigest(place: string): string {
  const plain = place
    .replace(/^file:\/\//, "")
    .replace(/^(?:\w+:\/\/)?(?:[^@/]*@)?([^:/]+):(?=[^/\d])/, "$1/")
    .replace(/^\w+:\/\/(?:[^@/]*@)?/, "");
  return sha256(
    plain
      .replace(/\/+$/, "")
      .replace(/\.git$/, "")
      .replace(/\/+$/, ""),
  );
}

import { existsSync } from "node:fs";
import { folderMark, lacksCommits, remoteDigest, remotesOf } from "../../project/fingerprint.ts";
import { hintOf, verb, type Hint } from "../../protocol/hint.ts";
import type { Project } from "../../store/projects.ts";

// A repository that was moved away may leave its path to another one. The workers of the first are not those of the second, and a
// start there would make the second what the project is known by, so that the first could not be told any more.

/**
 * Tells whether something else has taken the path of the project's repository: neither the folder nor its git is the one that was
 * recorded, and there is no git any more, or git finds none of the commits that the history began with and it was not cloned from
 * the same place. A new clone of the same repository is the same. Of a project without git only the path is known to last.
 */
export async function isReplaced({
  identity,
  root,
  folderMark: mark,
  rootMark,
  rootCommits,
  remotes,
}: Project): Promise<boolean> {
  if (mark === null || rootMark === null || rootCommits === null) return false;
  const rootNow = folderMark(root);
  if (rootNow === null || rootNow === rootMark || folderMark(identity) === mark) return false;
  if (!existsSync(identity)) return true;
  const now = new Set(remotesOf(identity));
  if ([...remotes, remoteDigest(identity), remoteDigest(root)].some((remote) => now.has(remote))) return false;
  return lacksCommits(identity, rootCommits);
}

/** Says why nothing is started in such a project, and the ways out. */
export function replacedProblem({ slug, root }: Project): { message: string; hint: Hint } {
  const move = verb("project", "move", slug);
  return {
    message: `${root} is not the repository that project ${slug} and its workers were in.`,
    hint: hintOf`if that was moved, in its new place: ${move}; or, if this one is to be the project from now on, here: ${move}`,
  };
}

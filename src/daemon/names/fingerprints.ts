import { GIT_WALK_MS } from "../../limits/index.ts";
import { branchesMark, folderMark, isRepository, remotesOf, rootCommits } from "../../project/fingerprint.ts";
import { projectById, setFolderMarks, setRemotes, setRootCommits, type Project } from "../../store/projects.ts";
import type { BaseServices, ChangeServices } from "../base-services.ts";

/** Records, inside a change, which folder the project is now; its history is looked at again if it is another folder. */
export function recordFolder({ db }: ChangeServices, { id, identity, root, ...known }: Project): void {
  const marks = { folderMark: folderMark(identity), rootMark: folderMark(root) };
  if (marks.folderMark === null) return;
  if (marks.folderMark !== known.folderMark || marks.rootMark !== known.rootMark) setFolderMarks(db, id, marks);
}

/** Module state, because it is about the machine: histories that are walked now, or were too long to be. */
const walks = new Set<string>();

/** Module state of the same kind: the repositories in which no commit was found, and their branches then. */
const withoutCommits = new Map<string, string>();

type FingerprintServices = Pick<BaseServices, "db" | "writer" | "monotonicMs" | "log">;

/** Records, in the background, where a project's repository was cloned from, and the commits that its history began with. */
export async function recordHistory(services: FingerprintServices, projectId: number): Promise<void> {
  const project = projectById(services.db, projectId);
  if (project === null || !isRepository(project.identity)) return;
  await recordRemotes(services, project).catch((error: unknown) =>
    services.log(`the remotes of ${project.identity} could not be recorded: ${String(error)}`),
  );
  await recordRootCommits(services, project);
}

async function recordRemotes(services: FingerprintServices, { id, identity, remotes }: Project): Promise<void> {
  const now = remotesOf(identity);
  if (now.length === 0 || now.join() === remotes.join()) return;
  await services.writer.write(() => setRemotes(services.db, id, now));
}

async function recordRootCommits(services: FingerprintServices, project: Project): Promise<void> {
  const { id, identity } = project;
  if (project.rootCommits !== null || walks.has(identity)) return;
  const branches = branchesMark(identity);
  if (withoutCommits.get(identity) === branches) return;
  walks.add(identity);
  const since = services.monotonicMs();
  try {
    const commits = await rootCommits(identity);
    if (commits === null) withoutCommits.set(identity, branches);
    else withoutCommits.delete(identity);
    if (commits !== null) await services.writer.write(() => setRootCommits(services.db, id, commits));
  } catch (error) {
    services.log(`the first commits of ${identity} could not be recorded: ${String(error)}`);
  } finally {
    if (services.monotonicMs() - since < GIT_WALK_MS) walks.delete(identity);
  }
}

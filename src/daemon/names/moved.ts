import { existsSync } from "node:fs";
import { commitsIn, folderMark, isRepository, remoteDigest, remotesOf } from "../../project/fingerprint.ts";
import type { ProjectRef, Target } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { hintOf, joinHints, verb, type HintLike } from "../../protocol/hint.ts";
import { nameKey } from "../../protocol/names.ts";
import type { MovedProject } from "../../protocol/records/admin.ts";
import { boundConversation } from "../../store/conversations.ts";
import { allProjects, countProjects, projectsWithWorker, type Project } from "../../store/projects.ts";
import { countWorkers, workerByName, workersOfProject } from "../../store/workers.ts";
import type { ChangeServices } from "../base-services.ts";
import { isReplaced } from "../launch/replaced.ts";
import { assertNotLeftBehind, isAbsorbed } from "./left-behind.ts";
import { projectOf, renamedTo } from "./lookup.ts";

// A repository that was moved is a new project to everybody who looks at its path alone. The names of its workers would silently
// begin anew there, so a new name is first looked for in projects whose folder is gone.

type Place = Pick<Target, "project" | "here">;

/**
 * Refuses to make a worker of a name that one with a conversation or mail has in the same repository, under the path it was moved
 * from. `start` is the command that begins anew all the same; the worker it makes is not asked about again.
 */
export async function assertNotMoved(
  services: ChangeServices,
  place: Place,
  name: string,
  start: HintLike = verb("run", name, "--fresh", "--", "COMMAND"),
): Promise<void> {
  const others = othersWithWorker(services, place, name);
  if (others.length === 0) return;
  const here = placeOf(services, place);
  assertNotLeftBehind(services, others, here, name, start);
  const gone = await goneFrom(others, here);
  const from = await ofSameRepository(services, gone, here);
  if (from.length > 0) throw movedError(name, from, here, start);
}

/** Lists the projects that were moved here, as far as can be told, or whose folder is part of this one now; none once a name is in use here. */
export async function movedHere(services: ChangeServices, place: Place): Promise<MovedProject[]> {
  const own = projectOf(services, place);
  if (own && countWorkers(services.db, own.id) > 0) return [];
  const here = placeOf(services, place);
  const others = allProjects(services.db).filter(
    (each) => each.id !== own?.id && countWorkers(services.db, each.id) > 0,
  );
  const absorbed = others.filter((each) => isAbsorbed(services, each, here));
  const gone = await goneFrom(
    others.filter((each) => !absorbed.includes(each)),
    here,
  );
  const from = await ofSameRepository(services, gone, here);
  const summary = ({ id, slug, root }: Project): MovedProject => ({
    slug,
    root,
    workers: countWorkers(services.db, id),
  });
  return [...absorbed.map((each) => ({ ...summary(each), absorbed: true as const })), ...from.map(summary)];
}

/** Tells whether a project is no longer at its path: nothing is there, or another folder is while its own one is here. */
export function isGone(
  { identity, root, folderMark: mark, rootMark }: Project,
  here: Pick<ProjectRef, "identity" | "root">,
): boolean {
  if (!existsSync(identity)) return true;
  const isHere = (own: string | null, old: string, now: string): boolean =>
    own !== null && folderMark(old) !== own && folderMark(now) === own;
  return isHere(mark, identity, here.identity) || isHere(rootMark, root, here.root);
}

/** Returns the projects that are no longer at their paths, also those whose path another repository has taken. */
async function goneFrom(projects: readonly Project[], here: Pick<ProjectRef, "identity" | "root">): Promise<Project[]> {
  const gone: Project[] = [];
  for (const each of projects) if (isGone(each, here) || (await isReplaced(each))) gone.push(each);
  return gone;
}

/** Tells, cheaply, whether a name is to be checked at all: nearly none is. */
export function mayBeMoved(services: ChangeServices, place: Place, name: string): boolean {
  return othersWithWorker(services, place, name).length > 0;
}

/** Looks for the name in other projects. Nothing is looked up on disk for a name that is known here, or new everywhere. */
function othersWithWorker(services: ChangeServices, place: Place, name: string): Project[] {
  const own = projectOf(services, place);
  const key = nameKey(name);
  if (own && countProjects(services.db) === 1) return [];
  if (own && (workerByName(services.db, own.id, key) || renamedTo(services, own.id, key))) return [];
  return projectsWithWorker(services.db, key).filter((each) => each.id !== own?.id);
}

function placeOf(services: ChangeServices, place: Place): Pick<ProjectRef, "identity" | "root" | "base"> {
  const own = projectOf(services, place);
  return own ? { identity: own.identity, root: own.root, base: own.slug } : place.here;
}

/**
 * Compares projects that are gone with the caller's folder: by the folder itself, else by the commits that its history began
 * with, which a shallow clone lacks, else by where it was cloned from. Of a project from before these were recorded only its slug
 * is known, and it counts while a transcript of it is there.
 */
export async function ofSameRepository(
  services: ChangeServices,
  gone: readonly Project[],
  here: Pick<ProjectRef, "identity" | "root" | "base">,
): Promise<Project[]> {
  const marks = new Set([folderMark(here.identity), folderMark(here.root)]);
  const isSameFolder = (each: Project): boolean =>
    [each.folderMark, each.rootMark].some((mark) => mark !== null && marks.has(mark));
  const hasHistory = isRepository(here.identity);
  const candidates = gone.filter((each) => isSameFolder(each) || isRepository(each.identity) === hasHistory);
  const remotes = new Set(hasHistory ? remotesOf(here.identity) : []);
  const isSameOrigin = ({ remotes: theirs, identity }: Project): boolean =>
    [...theirs, remoteDigest(identity)].some((remote) => remotes.has(remote));
  const asked = candidates.flatMap((each) => (isSameFolder(each) ? [] : (each.rootCommits ?? [])));
  const present = await commitsIn(here.identity, asked);
  return candidates.filter((each) => {
    if (isSameFolder(each) || isSameOrigin(each)) return true;
    if (each.rootCommits !== null) return each.rootCommits.every((commit) => present.has(commit));
    return each.folderMark === null && each.slugKey === nameKey(here.base) && hasTranscript(services, each);
  });
}

function hasTranscript(services: ChangeServices, { id }: Project): boolean {
  return workersOfProject(services.db, id).some((worker) => {
    const file = boundConversation(services.db, worker)?.transcript ?? null;
    return file !== null && existsSync(file);
  });
}

function movedError(
  name: string,
  from: readonly Project[],
  { root }: Pick<ProjectRef, "root">,
  start: HintLike,
): PerdureError {
  const where = from.map(({ slug, root: old }) => `${slug} (${old})`).join(" and ");
  const gone = from.length === 1 ? "a project whose folder is gone" : "projects whose folders are gone";
  const moves = joinHints(
    from.map(({ slug }) => verb("project", "move", slug)),
    ", or ",
  );
  return new PerdureError("refused", `${name} is a worker of ${gone}, of the same repository as ${root}: ${where}.`, {
    hint: hintOf`${moves}   (if it was moved here); to start over here: ${start}`,
    details: { movedFrom: from.map(({ slug, root: old }) => ({ slug, root: old })) },
  });
}

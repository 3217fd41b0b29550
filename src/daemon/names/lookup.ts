import { existsSync } from "node:fs";
import { join } from "node:path";
import { PROJECTS_MAX } from "../../limits/index.ts";
import { folderMark } from "../../project/fingerprint.ts";
import { chooseSlug } from "../../project/slug.ts";
import type { ProjectRef, Target } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { hintOf, joinHints, verb, type Hint } from "../../protocol/hint.ts";
import { checkName, nameKey, nearest, formatAddress } from "../../protocol/names.ts";
import {
  allProjects,
  countProjects,
  insertProject,
  moveProject,
  projectById,
  projectByIdentity,
  projectByRoot,
  projectBySlug,
  projectsByUidPrefix,
  projectsWithWorker,
  setFolderMarks,
  type Project,
} from "../../store/projects.ts";
import { runsByIdPrefix } from "../../store/runs.ts";
import { tombstoneByName } from "../../store/tombstones.ts";
import {
  lastRetiredByName,
  workerById,
  workerByName,
  workersByUidPrefix,
  workersOfProject,
  type Worker,
} from "../../store/workers.ts";
import { requirePresent } from "../../util/require-present.ts";
import { recordEvent } from "../events.ts";
import type { ChangeServices } from "../base-services.ts";

/** Returns the slug that this folder has, or would get if it were registered now. */
export function slugFor(services: ChangeServices, here: ProjectRef): string {
  const known = projectAt(services, here);
  return known?.slug ?? chooseSlug(here.base, here.identity, (key) => projectBySlug(services.db, key) !== null);
}

/** Registers the folder as a project, inside a change, when something in it gets a name; a mere query does not. */
export function registerProject(services: ChangeServices, here: ProjectRef): Project {
  const known = projectAt(services, here);
  if (known) return settleIdentity(services, known, here);
  if (countProjects(services.db) >= PROJECTS_MAX) {
    throw new PerdureError("refused", `Limit of ${PROJECTS_MAX.toLocaleString("en-US")} projects reached.`, {
      hint: verb("project", "ls"),
    });
  }
  if (here.guessed) {
    throw new PerdureError("usage", `The name of the project in ${here.root} cannot be read from its perdure.toml.`, {
      hint: verb("doctor"),
      details: { unnamed: true },
    });
  }
  checkName(here.base, "project");
  const slug = slugFor(services, here);
  const { identity, root } = here;
  const row = {
    slug,
    slugKey: nameKey(slug),
    identity,
    root,
    createdMs: services.now(),
    folderMark: folderMark(identity),
    rootMark: folderMark(root),
  };
  const id = insertProject(services.db, row);
  recordEvent(services, "project.registered", { projectId: id }, { root: here.root });
  return requirePresent(projectById(services.db, id), `project ${slug}`);
}

/** Returns the project of a folder, also of one that has become a repository since, is none any more, or has its git elsewhere. */
export function projectAt(
  { db }: Pick<ChangeServices, "db">,
  here: Pick<ProjectRef, "identity" | "root">,
): Project | null {
  return projectByIdentity(db, here.identity) ?? inSamePlace(db, here);
}

/** Looks for the project that had this main tree before its git was made, removed, or put somewhere else. */
function inSamePlace(
  db: ChangeServices["db"],
  { identity, root }: Pick<ProjectRef, "identity" | "root">,
): Project | null {
  const before = projectByRoot(db, root);
  // A caller from before the tree got its git, or one that cannot see it, must not take the repository for a folder.
  return before !== null && before.identity === join(root, ".git") && identity === root && isGitFolder(before.identity)
    ? null
    : before;
}

function isGitFolder(folder: string): boolean {
  return existsSync(join(folder, "HEAD"));
}

/**
 * Binds a project, inside a change, to what its folder has become: a repository, or none any more. Where another folder has taken
 * the place of the project's own, that one may be found again elsewhere, and stays what the project is known by.
 */
function settleIdentity(services: ChangeServices, project: Project, { identity, root }: ProjectRef): Project {
  if (project.identity === identity) return project;
  const marks = { folderMark: folderMark(identity), rootMark: folderMark(root) };
  if (project.rootMark !== null && project.rootMark !== marks.rootMark) return project;
  moveProject(services.db, project.id, identity, root);
  setFolderMarks(services.db, project.id, marks);
  recordEvent(services, "project.moved", { projectId: project.id }, { from: project.identity, to: identity });
  return { ...project, identity, root, ...marks, rootCommits: null };
}

/** Returns the project that a target names; null when the caller's folder is not a project yet. */
export function projectOf(services: ChangeServices, target: Pick<Target, "project" | "here">): Project | null {
  if (target.project === null) return projectAt(services, target.here);
  const row = projectBySlug(services.db, nameKey(target.project)) ?? projectOfUid(services, target.project);
  if (row) return row;
  const near = nearest(
    target.project,
    allProjects(services.db).map(({ slug }) => slug),
  );
  throw new PerdureError("not-found", `There is no project ${JSON.stringify(target.project)} on this machine.`, {
    hint: near.length > 0 ? `did you mean ${near.join(" or ")}?` : verb("project", "ls"),
  });
}

export interface FoundWorker {
  project: Project;
  worker: Worker;
  address: string;
}

/** Returns the project with this uid, or with one that uniquely begins like this. */
export function projectOfUid({ db }: Pick<ChangeServices, "db">, text: string): Project | null {
  const [only, another] = UID_PREFIX.test(text) ? projectsByUidPrefix(db, text) : [];
  return another === undefined ? (only ?? null) : null;
}

/** A uid is 32 hex digits; fewer are taken for the beginning of one if they could hardly be a name. */
const UID_PREFIX = /^[0-9a-f]{8,32}$/;

/** Returns the worker, by its name, by a run of its own or by its uid; throws with what became of the name, or with similar names. */
export function findWorker(services: ChangeServices, target: Target): FoundWorker {
  const project = projectOf(services, target);
  const byUid =
    project && workerByName(services.db, project.id, nameKey(target.name)) ? null : workerOfUid(services, target);
  if (byUid) return byUid;
  if (project === null) {
    const moved = movedHint(services, target.name);
    throw new PerdureError("not-found", moved?.message ?? `This project has no workers yet (${target.here.root}).`, {
      hint: moved?.hint ?? verb("run", target.name, "--", "COMMAND"),
      ...unknownDetails(moved, target.name),
    });
  }
  const key = nameKey(target.name);
  const worker = workerByName(services.db, project.id, key);
  const found = worker ?? workerOfRun(services, project, target.name);
  if (found) return { project, worker: found, address: formatAddress(project.slug, found.name) };
  throw unknownWorkerError(services, project, target.name);
}

/** Returns the worker with this uid, or with one that uniquely begins like this, wherever it is; in the project, if one is named. */
function workerOfUid(services: ChangeServices, target: Target): FoundWorker | null {
  const [worker, another] = UID_PREFIX.test(target.name) ? workersByUidPrefix(services.db, target.name) : [];
  const project = worker && another === undefined ? projectById(services.db, worker.projectId) : null;
  if (!worker || !project) return null;
  if (target.project !== null && projectOf(services, target)?.id !== project.id) return null;
  return { project, worker, address: formatAddress(project.slug, worker.name) };
}

/** Returns the worker of a run id, or of a prefix of ids that all belong to one worker. */
function workerOfRun(services: ChangeServices, project: Project, idOrStart: string): Worker | null {
  if (!idOrStart.includes(".")) return null;
  const workers = new Set(runsByIdPrefix(services.db, idOrStart).map((run) => run.workerId));
  const [only] = workers.size === 1 ? workers : [];
  const worker = only === undefined ? null : workerById(services.db, only);
  return worker?.projectId === project.id && worker.retiredMs === null ? worker : null;
}

function unknownWorkerError(services: ChangeServices, project: Project, name: string): PerdureError {
  const key = nameKey(name);
  const renamed = renamedTo(services, project.id, key);
  if (renamed) return renamedError(project, name, renamed);
  const retired = lastRetiredByName(services.db, project.id, key);
  if (retired?.retiredMs) {
    const when = new Date(retired.retiredMs).toISOString();
    return new PerdureError("not-found", `${formatAddress(project.slug, retired.name)} was retired at ${when}.`, {
      hint: hintOf`${verb("run", name, "--", "COMMAND")} makes a new worker of that name`,
    });
  }
  const near = nearest(
    name,
    workersOfProject(services.db, project.id).map((worker) => worker.name),
  );
  const moved = movedHint(services, name);
  const message = `There is no worker ${JSON.stringify(name)} in project ${project.slug}.`;
  return new PerdureError("not-found", moved?.message ?? message, {
    hint: moved?.hint ?? (near.length > 0 ? `did you mean ${near.join(" or ")}?` : verb("ls")),
    ...unknownDetails(moved, name),
  });
}

/** By these a caller that reads perdure.toml may say more of the name; of one that was moved here enough is said. */
function unknownDetails(moved: MovedWorker | null, name: string): { details?: { unknown: string } } {
  return moved === null ? { details: { unknown: name } } : {};
}

/** A worker of a project whose folder is gone, and the way to it. */
interface MovedWorker {
  message: string;
  hint: Hint;
}

/** Returns the way to the workers of this name in projects whose folder is gone; null without any. */
function movedHint(services: ChangeServices, name: string): MovedWorker | null {
  const gone = projectsWithWorker(services.db, nameKey(name)).filter(({ identity }) => !existsSync(identity));
  if (gone.length === 0) return null;
  const where = gone
    .map(({ slug, root }) => `${formatAddress(slug, name)}, whose folder ${root} is gone`)
    .join(", and of ");
  const moves = gone.map(({ root, slug }) => hintOf`${verb("project", "move", slug)}   (if ${root} was moved here)`);
  return { message: `The name ${JSON.stringify(name)} is that of ${where}.`, hint: joinHints(moves, "; or ") };
}

/** Returns the worker that had this name before it was renamed. */
export function renamedTo(services: ChangeServices, projectId: number, key: string): Worker | null {
  const tombstone = tombstoneByName(services.db, projectId, key);
  return tombstone ? workerById(services.db, tombstone.workerId) : null;
}

export function renamedError(project: Project, name: string, renamed: Worker): PerdureError {
  return new PerdureError(
    "not-found",
    `${formatAddress(project.slug, name)} is now ${formatAddress(project.slug, renamed.name)}.`,
    {
      hint: hintOf`use ${renamed.name}; to free the old name: ${verb("retire", name)}`,
      details: { renamedTo: formatAddress(project.slug, renamed.name) },
    },
  );
}

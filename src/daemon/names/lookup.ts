import { PROJECTS_MAX } from "../../limits/index.ts";
import { chooseSlug } from "../../project/slug.ts";
import type { ProjectRef, Target } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { checkName, nameKey, nearest, formatAddress } from "../../protocol/names.ts";
import {
  allProjects,
  countProjects,
  insertProject,
  projectByIdentity,
  projectBySlug,
  type Project,
} from "../../store/projects.ts";
import { runsByIdPrefix } from "../../store/runs.ts";
import { tombstoneByName } from "../../store/tombstones.ts";
import { lastRetiredByName, workerById, workerByName, workersOfProject, type Worker } from "../../store/workers.ts";
import { recordEvent } from "../events.ts";
import type { ChangeServices } from "../base-services.ts";

/** Returns the slug that this folder has, or would get if it were registered now. */
export function slugFor(services: ChangeServices, here: ProjectRef): string {
  const known = projectByIdentity(services.db, here.identity);
  return known?.slug ?? chooseSlug(here.base, here.identity, (key) => projectBySlug(services.db, key) !== null);
}

/** Registers the folder as a project, inside a change, when something in it gets a name; a mere query does not. */
export function registerProject(services: ChangeServices, here: ProjectRef): Project {
  const known = projectByIdentity(services.db, here.identity);
  if (known) return known;
  if (countProjects(services.db) >= PROJECTS_MAX) {
    throw new PerdureError("refused", `Limit of ${PROJECTS_MAX.toLocaleString("en-US")} projects reached.`, {
      hint: "perdure project ls",
    });
  }
  if (here.guessed) {
    throw new PerdureError("usage", `The name of the project in ${here.root} cannot be read from its perdure.toml.`, {
      hint: "perdure doctor",
      details: { unnamed: true },
    });
  }
  checkName(here.base, "project");
  const slug = slugFor(services, here);
  const row = { slug, slugKey: nameKey(slug), identity: here.identity, root: here.root, createdMs: services.now() };
  const id = insertProject(services.db, row);
  recordEvent(services, "project.registered", { projectId: id }, { root: here.root });
  return { ...row, id };
}

/** Returns the project that a target names; null when the caller's folder is not a project yet. */
export function projectOf(services: ChangeServices, target: Pick<Target, "project" | "here">): Project | null {
  if (target.project === null) return projectByIdentity(services.db, target.here.identity);
  const row = projectBySlug(services.db, nameKey(target.project));
  if (row) return row;
  const near = nearest(
    target.project,
    allProjects(services.db).map(({ slug }) => slug),
  );
  throw new PerdureError("not-found", `There is no project ${JSON.stringify(target.project)} on this machine.`, {
    hint: near.length > 0 ? `did you mean ${near.join(" or ")}?` : "perdure project ls",
  });
}

export interface FoundWorker {
  project: Project;
  worker: Worker;
  address: string;
}

/** Returns the worker; throws with what became of the name, or with similar names. */
export function findWorker(services: ChangeServices, target: Target): FoundWorker {
  const project = projectOf(services, target);
  if (project === null) {
    throw new PerdureError("not-found", `This project has no workers yet (${target.here.root}).`, {
      hint: `perdure run ${target.name} -- COMMAND`,
    });
  }
  const key = nameKey(target.name);
  const worker = workerByName(services.db, project.id, key);
  const found = worker ?? workerOfRun(services, project, target.name);
  if (found) return { project, worker: found, address: formatAddress(project.slug, found.name) };
  throw unknownWorkerError(services, project, target.name);
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
      hint: `perdure run ${name} -- COMMAND makes a new worker of that name`,
    });
  }
  const near = nearest(
    name,
    workersOfProject(services.db, project.id).map((worker) => worker.name),
  );
  return new PerdureError("not-found", `There is no worker ${JSON.stringify(name)} in project ${project.slug}.`, {
    hint: near.length > 0 ? `did you mean ${near.join(" or ")}?` : "perdure ls",
  });
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
      hint: `use ${renamed.name}; to free the old name: perdure retire ${name}`,
      details: { renamedTo: formatAddress(project.slug, renamed.name) },
    },
  );
}

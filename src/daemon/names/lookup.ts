import { PROJECTS_MAX } from "../../limits/index.ts";
import { chooseSlug } from "../../project/slug.ts";
import type { ProjectRef, Target } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { checkName, nameKey, nearest } from "../../protocol/names.ts";
import {
  allProjects,
  countProjects,
  insertProject,
  projectByIdentity,
  projectBySlug,
  type ProjectRow,
} from "../../store/projects.ts";
import { runsByIdStart } from "../../store/runs.ts";
import { tombstoneByName } from "../../store/tombstones.ts";
import { lastRetiredByName, workerById, workerByName, workersOfProject, type WorkerRow } from "../../store/workers.ts";
import { record, type House } from "../services.ts";

/** The slug this folder has, or would have if it were registered now. */
export function slugHere(house: House, here: ProjectRef): string {
  const known = projectByIdentity(house.db, here.identity);
  return known?.slug ?? chooseSlug(here.base, here.identity, (key) => projectBySlug(house.db, key) !== null);
}

/** Inside a change. A folder becomes a project when something in it gets a name, not when somebody looks. */
export function registerProject(house: House, here: ProjectRef): ProjectRow {
  const known = projectByIdentity(house.db, here.identity);
  if (known) return known;
  if (countProjects(house.db) >= PROJECTS_MAX) {
    throw new PerdureError("refused", `There are ${PROJECTS_MAX} projects already.`, { hint: "perdure project ls" });
  }
  if (here.guessed) {
    throw new PerdureError(
      "usage",
      `What the project in ${here.root} is called cannot be read from its perdure.toml.`,
      {
        hint: "perdure doctor",
        details: { unnamed: true },
      },
    );
  }
  checkName(here.base, "project");
  const slug = slugHere(house, here);
  const row = { slug, slug_key: nameKey(slug), identity: here.identity, root: here.root, created_ms: house.now() };
  const id = insertProject(house.db, row);
  record(house, "project.registered", { projectId: id }, { root: here.root });
  return { ...row, id };
}

/** The project a target names; null when the caller's folder is none yet. */
export function projectOf(house: House, target: Pick<Target, "project" | "here">): ProjectRow | null {
  if (target.project === null) return projectByIdentity(house.db, target.here.identity);
  const row = projectBySlug(house.db, nameKey(target.project));
  if (row) return row;
  const near = nearest(
    target.project,
    allProjects(house.db).map(({ slug }) => slug),
  );
  throw new PerdureError("not-found", `There is no project ${JSON.stringify(target.project)} on this machine.`, {
    hint: near.length > 0 ? `did you mean ${near.join(" or ")}?` : "perdure project ls",
  });
}

export interface FoundWorker {
  project: ProjectRow;
  worker: WorkerRow;
  address: string;
}

/** The worker, or an error that says what became of the name and which ones are near. */
export function findWorker(house: House, target: Target): FoundWorker {
  const project = projectOf(house, target);
  if (project === null) {
    throw new PerdureError("not-found", `No worker was ever named in this project (${target.here.root}).`, {
      hint: `perdure run ${target.name} -- COMMAND`,
    });
  }
  const key = nameKey(target.name);
  const worker = workerByName(house.db, project.id, key);
  const found = worker ?? workerOfRun(house, project, target.name);
  if (found) return { project, worker: found, address: `${project.slug}/${found.name}` };
  throw noSuchWorker(house, project, target.name);
}

/** By a run's id, or the beginning of ids that all belong to one worker. */
function workerOfRun(house: House, project: ProjectRow, idOrStart: string): WorkerRow | null {
  if (!idOrStart.includes(".")) return null;
  const workers = new Set(runsByIdStart(house.db, idOrStart).map((run) => run.worker_id));
  const [only] = workers.size === 1 ? workers : [];
  const worker = only === undefined ? null : workerById(house.db, only);
  return worker?.project_id === project.id && worker.retired_ms === null ? worker : null;
}

function noSuchWorker(house: House, project: ProjectRow, name: string): PerdureError {
  const key = nameKey(name);
  const heir = heirOf(house, project.id, key);
  if (heir) return renamedError(project, name, heir);
  const retired = lastRetiredByName(house.db, project.id, key);
  if (retired?.retired_ms) {
    const when = new Date(retired.retired_ms).toISOString();
    return new PerdureError("not-found", `${project.slug}/${retired.name} was retired at ${when}.`, {
      hint: `perdure run ${name} -- COMMAND makes a new worker of that name`,
    });
  }
  const near = nearest(
    name,
    workersOfProject(house.db, project.id).map((worker) => worker.name),
  );
  return new PerdureError("not-found", `There is no worker ${JSON.stringify(name)} in project ${project.slug}.`, {
    hint: near.length > 0 ? `did you mean ${near.join(" or ")}?` : "perdure ls",
  });
}

/** The worker that used to have this name. */
export function heirOf(house: House, projectId: number, key: string): WorkerRow | null {
  const tombstone = tombstoneByName(house.db, projectId, key);
  return tombstone ? workerById(house.db, tombstone.worker_id) : null;
}

export function renamedError(project: ProjectRow, name: string, heir: WorkerRow): PerdureError {
  return new PerdureError("not-found", `${project.slug}/${name} is now ${project.slug}/${heir.name}.`, {
    hint: `use ${heir.name}; to free the old name: perdure retire ${name}`,
    details: { renamedTo: `${project.slug}/${heir.name}` },
  });
}

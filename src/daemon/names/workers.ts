import { WORKERS_PER_PROJECT_MAX } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { verb } from "../../protocol/hint.ts";
import { checkName, nameKey } from "../../protocol/names.ts";
import type { Project } from "../../store/projects.ts";
import { countWorkers, insertWorker, workerByName, workerCountUpperBound, type Worker } from "../../store/workers.ts";
import { recordEvent } from "../events.ts";
import type { ChangeServices } from "../base-services.ts";
import { renamedTo, renamedError } from "./lookup.ts";

/** Returns the worker of this name, or makes one, inside a change. */
export function findOrCreateWorker(
  services: ChangeServices,
  project: Project,
  rawName: string,
  isEphemeral: boolean,
): Worker {
  const name = checkName(rawName);
  const key = nameKey(name);
  const known = workerByName(services.db, project.id, key);
  if (known) return known;
  const renamed = renamedTo(services, project.id, key);
  if (renamed) throw renamedError(project, name, renamed);
  // The upper bound is cheap; the exact count is needed only near the limit.
  const isFarFromLimit = workerCountUpperBound(services.db) < WORKERS_PER_PROJECT_MAX;
  if (!isFarFromLimit && countWorkers(services.db, project.id) >= WORKERS_PER_PROJECT_MAX) {
    throw new PerdureError(
      "refused",
      `Limit of ${WORKERS_PER_PROJECT_MAX.toLocaleString("en-US")} workers in project ${project.slug} reached.`,
      {
        hint: verb("retire", "NAME"),
      },
    );
  }
  const row = { projectId: project.id, name, nameKey: key, createdMs: services.now(), ephemeral: isEphemeral };
  const created = insertWorker(services.db, row);
  recordEvent(services, "worker.created", { projectId: project.id, workerId: created.id });
  return created;
}

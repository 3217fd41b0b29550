import { WORKERS_PER_PROJECT_MAX } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { checkName, nameKey } from "../../protocol/names.ts";
import type { ProjectRow } from "../../store/projects.ts";
import { countWorkers, insertWorker, workerByName, workersAtMost, type WorkerRow } from "../../store/workers.ts";
import { record, type House } from "../services.ts";
import { heirOf, renamedError } from "./lookup.ts";

/** Inside a change. The worker of this name, or a new one. */
export function findOrCreate(house: House, project: ProjectRow, given: string, isEphemeral: boolean): WorkerRow {
  const name = checkName(given);
  const key = nameKey(name);
  const known = workerByName(house.db, project.id, key);
  if (known) return known;
  const heir = heirOf(house, project.id, key);
  if (heir) throw renamedError(project, name, heir);
  const few = workersAtMost(house.db) < WORKERS_PER_PROJECT_MAX;
  if (!few && countWorkers(house.db, project.id) >= WORKERS_PER_PROJECT_MAX) {
    throw new PerdureError("refused", `Project ${project.slug} has ${WORKERS_PER_PROJECT_MAX} workers already.`, {
      hint: "perdure retire NAME",
    });
  }
  const ephemeral = isEphemeral ? 1 : 0;
  const row = { project_id: project.id, name, name_key: key, created_ms: house.now(), ephemeral };
  const id = insertWorker(house.db, row);
  record(house, "worker.created", { projectId: project.id, workerId: id });
  const created = workerByName(house.db, project.id, key);
  if (created === null) throw new Error(`worker ${name} vanished in its own transaction`);
  return created;
}

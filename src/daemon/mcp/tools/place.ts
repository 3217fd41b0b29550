import { findProject } from "../../../project/find.ts";
import { declaredWorkers } from "../../../project/fleet/names.ts";
import type { ProjectRef } from "../../../protocol/calls/index.ts";
import { isPerdureError } from "../../../protocol/errors.ts";
import { isErrno } from "../../../state/files.ts";
import { projectById, type Project } from "../../../store/projects.ts";
import { workerById, type Worker } from "../../../store/workers.ts";
import { requirePresent } from "../../../util/require-present.ts";
import type { ToolCall } from "../tool.ts";

/** Returns the worker that the tool acts as, and its project. */
export function ownWorker({ services, actor }: ToolCall): { worker: Worker; project: Project } {
  const worker = requirePresent(workerById(services.db, actor.run.workerId), `the worker of run ${actor.run.id}`);
  const project = requirePresent(projectById(services.db, worker.projectId), `the project of run ${actor.run.id}`);
  return { worker, project };
}

/** Returns who calls and whose mail is meant, as the calls of mail take it: a worker's mail stays in its project. */
export function ownMail(call: ToolCall): {
  as: null;
  nested: boolean;
  here: ProjectRef;
  project: string;
} {
  const { project } = ownWorker(call);
  const { identity, root, slug } = project;
  return { as: null, nested: call.nested, here: { identity, root, base: slug }, project: slug };
}

/** Lists the names that the project's file declares: they have a mailbox before they ever ran. */
export function declaredNames(call: ToolCall): string[] {
  const { root } = ownWorker(call).project;
  try {
    return declaredWorkers(findProject(root)).map(({ name }) => name);
  } catch (error) {
    // The commands that need the file say what is wrong with it.
    if (isPerdureError(error) || isErrno(error, "ENOENT", "ENOTDIR", "EACCES")) return [];
    throw error;
  }
}

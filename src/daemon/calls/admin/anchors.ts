import type { AnchorOwner } from "../../../protocol/records/run.ts";
import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import { fileNameOf } from "../../../protocol/foreign-id.ts";
import { runById, runsByIdPrefix, type Run } from "../../../store/runs.ts";
import { workerById } from "../../../store/workers.ts";
import { iso } from "../../../util/iso.ts";
import type { Services } from "../../services.ts";
import { projectOf } from "../../names/lookup.ts";
import type { CallContext } from "../context.ts";

/** Finds which of these context files belong to runs of this project, and whether those runs are alive. */
export async function findAnchorOwnersCall(
  params: CallParams<"findAnchorOwners">,
  { services }: CallContext,
): Promise<CallResults["findAnchorOwners"]> {
  const project = projectOf(services, params);
  if (project === null) return { known: [] };
  return { known: params.files.flatMap((file) => ownerOf(services, project.id, file) ?? []) };
}

function ownerOf(services: Services, projectId: number, file: string): AnchorOwner | null {
  const run = runOfFile(services, file);
  const worker = run ? workerById(services.db, run.workerId) : null;
  if (!run || worker?.projectId !== projectId) return null;
  const live = run.endedMs === null && services.runs.processesOf(run).length > 0;
  return {
    file,
    run: run.id,
    worker: worker.name,
    generation: run.generation,
    live,
    endedAt: run.endedMs === null ? null : iso(run.endedMs),
    reason: live ? null : (run.reason ?? "killed"),
  };
}

/** Returns the run of a context file, whose name is the run's id, or a prefix of the id, `~` and a hash. */
function runOfFile(services: Services, file: string): Run | null {
  const [start = "", hash] = file.split("~");
  if (hash === undefined) return runById(services.db, file);
  return runsByIdPrefix(services.db, start).find(({ id }) => fileNameOf(id) === file) ?? null;
}

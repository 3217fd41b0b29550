import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { fileNameOf } from "../../protocol/foreign-id.ts";
import type { AnchorOwner } from "../../protocol/records/run.ts";
import { runById, runsByIdStart, type RunRow } from "../../store/runs.ts";
import { workerById } from "../../store/workers.ts";
import { iso } from "../names/describe.ts";
import type { House } from "../services.ts";
import { projectOf } from "../names/lookup.ts";
import type { CallContext } from "./context.ts";

/** Which of these context files belong to runs of this project, and whether those live. */
export async function findAnchorOwnersCall(
  params: CallParams<"findAnchorOwners">,
  { house }: CallContext,
): Promise<CallResults["findAnchorOwners"]> {
  const project = projectOf(house, params);
  if (project === null) return { known: [] };
  return { known: params.files.flatMap((file) => ownerOf(house, project.id, file) ?? []) };
}

function ownerOf(house: House, projectId: number, file: string): AnchorOwner | null {
  const run = runOfFile(house, file);
  const worker = run ? workerById(house.db, run.worker_id) : null;
  if (!run || worker?.project_id !== projectId) return null;
  const live = run.ended_ms === null && house.watch.processesOf(run).length > 0;
  return {
    file,
    run: run.id,
    worker: worker.name,
    generation: run.generation,
    live,
    endedAt: run.ended_ms === null ? null : iso(run.ended_ms),
    reason: live ? null : (run.reason ?? "killed"),
  };
}

/** A file name is the id itself, or the id's beginning, `~` and a hash. */
function runOfFile(house: House, file: string): RunRow | null {
  const [start = "", hash] = file.split("~");
  if (hash === undefined) return runById(house.db, file);
  return runsByIdStart(house.db, start).find(({ id }) => fileNameOf(id) === file) ?? null;
}

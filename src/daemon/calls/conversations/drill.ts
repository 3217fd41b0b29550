import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import { formatAddress } from "../../../protocol/names.ts";
import { allProjects, type Project } from "../../../store/projects.ts";
import { workersOfProject } from "../../../store/workers.ts";
import { drillWorker } from "../../launch/drill.ts";
import type { Services } from "../../services.ts";
import { findWorker, projectOf, type FoundWorker } from "../../names/lookup.ts";
import type { CallContext } from "../context.ts";

/** Drills the workers and sends each result as it comes, because a fleet's transcripts take a while to read. */
export async function drillCall(params: CallParams<"drill">, context: CallContext): Promise<CallResults["drill"]> {
  const { services } = context;
  await services.runs.pollNow();
  const found = params.targets.map((target) => findWorker(services, target));
  const everyone = found.length > 0 ? found : workersOf(services, params);
  let broken = 0;
  for (const { worker, address } of everyone) {
    const result = await drillWorker(services, address, worker);
    if (!result.ok) broken++;
    await context.send(result);
  }
  return { count: everyone.length, broken };
}

function workersOf(services: Services, params: CallParams<"drill">): FoundWorker[] {
  const own = params.all ? null : projectOf(services, params);
  const projects: Project[] = params.all ? allProjects(services.db) : own ? [own] : [];
  return projects.flatMap((project) =>
    workersOfProject(services.db, project.id).map((worker) => ({
      project,
      worker,
      address: formatAddress(project.slug, worker.name),
    })),
  );
}

import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { allProjects, type Project } from "../../store/projects.ts";
import { workersOfProject } from "../../store/workers.ts";
import { drill } from "../custody/drill.ts";
import type { House } from "../services.ts";
import { findWorker, projectOf, type FoundWorker } from "../names/lookup.ts";
import type { CallContext } from "./context.ts";

/** One result a worker, as they come: a fleet's transcripts take a while to read. */
export async function drillCall(params: CallParams<"drill">, context: CallContext): Promise<CallResults["drill"]> {
  const { house } = context;
  await house.watch.lookNow();
  const found = params.targets.map((target) => findWorker(house, target));
  const everyone = found.length > 0 ? found : workersOf(house, params);
  let broken = 0;
  for (const { worker, address } of everyone) {
    const result = await drill(house, address, worker);
    if (!result.ok) broken++;
    await context.send(result);
  }
  return { count: everyone.length, broken };
}

function workersOf(house: House, params: CallParams<"drill">): FoundWorker[] {
  const own = params.all ? null : projectOf(house, params);
  const projects: Project[] = params.all ? allProjects(house.db) : own ? [own] : [];
  return projects.flatMap((project) =>
    workersOfProject(house.db, project.id).map((worker) => ({
      project,
      worker,
      address: `${project.slug}/${worker.name}`,
    })),
  );
}

import type { CallParams, CallResults } from "../../protocol/calls.ts";
import type { DownItem } from "../../protocol/fleet.ts";
import { undesire } from "../../store/fleet.ts";
import { markStopped, runById } from "../../store/runs.ts";
import { sessionOfRun } from "../../store/sessions.ts";
import { workersOfProject, type WorkerRow } from "../../store/workers.ts";
import type { ProjectRow } from "../../store/projects.ts";
import type { CallContext } from "../calls/context.ts";
import { clearPane, keepScreen } from "./screens.ts";
import { record, type House } from "../house.ts";
import { findWorker, projectOf } from "../places.ts";
import { stopRun } from "../stop-run.ts";

/** Brings workers down: those named, else all that were brought up. Only processes that carry their run are signalled. */
export async function downCall(params: CallParams<"down">, context: CallContext): Promise<CallResults["down"]> {
  const { house } = context;
  const targets = params.targets ? params.targets.map((target) => findWorker(house, target)) : fleetOf(house, params);
  const items = await Promise.all(
    targets.map(async ({ project, worker }) => {
      const item = await bringDown(house, project, worker, params.by, params.killAfterMs);
      await context.send(item);
      return item;
    }),
  );
  await tidy(house);
  return { stopped: items.filter(({ outcome }) => outcome !== "stopped already").length, count: items.length };
}

function fleetOf(house: House, params: CallParams<"down">): { project: ProjectRow; worker: WorkerRow }[] {
  const project = projectOf(house, params);
  if (project === null) return [];
  return workersOfProject(house.db, project.id)
    .filter(({ desired, holder_run: run }) => desired === 1 || (run !== null && runById(house.db, run)?.pane != null))
    .map((worker) => ({ project, worker }));
}

/** Wanted no more first: nothing starts it again while it is being stopped. */
export async function bringDown(
  house: House,
  project: ProjectRow,
  worker: WorkerRow,
  by: string,
  killAfterMs: number,
): Promise<DownItem> {
  const subject = { projectId: project.id, workerId: worker.id };
  await house.writer.write(() => {
    undesire(house.db, worker.id);
    if (worker.desired === 1) record(house, "worker.down", subject, { by });
  });
  await house.fleet.leave(worker.id);
  const run = house.fleet.liveRun(worker.id);
  const address = `${project.slug}/${worker.name}`;
  if (run !== null) {
    await house.writer.write(() => markStopped(house.db, run.id, by));
    const killed = await stopRun(house, { ...run, stopped_by: by }, killAfterMs);
    await keepScreen(house, house.fleet.panes, run);
    // Down means that its conversation is in custody, too.
    const session = sessionOfRun(house.db, run.id);
    if (session) await house.sessions.settled(session.id);
    await clearPane(house.fleet.panes, worker.id);
    return { address, name: worker.name, outcome: killed ? "killed" : "stopped", run: run.id };
  }
  await clearPane(house.fleet.panes, worker.id);
  return { address, name: worker.name, outcome: "stopped already", run: null };
}

/** With nobody left in it, our tmux server goes, too. */
async function tidy(house: House): Promise<void> {
  const tmux = house.fleet.panes.ifThere();
  if (tmux && (await tmux.panes()).every(({ workerId }) => workerId === null)) await tmux.kill();
}

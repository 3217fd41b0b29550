import { SESSIONS_KEPT_PER_WORKER } from "../../limits/index.ts";
import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import type { ProcessInfo } from "../../runtime/process/index.ts";
import { allProjects } from "../../store/projects.ts";
import { runById, runsOfWorker } from "../../store/runs.ts";
import { boundConversation, conversationsOfWorker } from "../../store/conversations.ts";
import { tombstonesOfWorker } from "../../store/tombstones.ts";
import { workersOfProject, type Worker } from "../../store/workers.ts";
import { describeRun, describeSession, describeWorker, iso } from "../names/describe.ts";
import type { House } from "../services.ts";
import { findWorker, projectOf } from "../names/lookup.ts";
import type { CallContext } from "./context.ts";

/** One item a worker: a large project's list would not fit a frame. */
export async function lsCall(params: CallParams<"ls">, context: CallContext): Promise<CallResults["ls"]> {
  const { house } = context;
  await house.watch.lookNow();
  const one = params.all ? null : projectOf(house, params);
  const projects = params.all ? allProjects(house.db) : one ? [one] : [];
  let count = 0;
  for (const project of projects) {
    for (const worker of workersOfProject(house.db, project.id)) {
      await context.send(describeWorker(house, project, worker).summary);
      count++;
    }
  }
  return { count };
}

export async function showCall(params: CallParams<"show">, { house }: CallContext): Promise<CallResults["show"]> {
  await house.watch.lookNow();
  const { project, worker } = findWorker(house, params.target);
  const { summary, processes } = describeWorker(house, project, worker);
  const [last] = runsOfWorker(house.db, worker.id, 1);
  const current = boundConversation(house.db, worker);
  return {
    ...summary,
    createdAt: iso(worker.createdMs),
    command: worker.command,
    cwd: worker.cwd,
    environment: Object.keys(worker.environment),
    formerNames: tombstonesOfWorker(house.db, worker.id).map(({ name }) => name),
    // The program's own too, not only the one that holds the name.
    processes: everyProcess(house, worker, processes).map(({ pid, command }) => ({ pid, command })),
    lastRun: last ? describeRun(house, last) : null,
    conversation: current && describeSession(house, worker, current),
  };
}

export async function historyCall(
  params: CallParams<"history">,
  context: CallContext,
): Promise<CallResults["history"]> {
  const { house } = context;
  await house.watch.lookNow();
  const { worker, address } = findWorker(house, params.target);
  for (const run of runsOfWorker(house.db, worker.id, params.limit)) await context.send(describeRun(house, run));
  const sessions = conversationsOfWorker(house.db, worker.id, SESSIONS_KEPT_PER_WORKER);
  return { address, sessions: sessions.map((session) => describeSession(house, worker, session)) };
}

function everyProcess(house: House, worker: Worker, holders: ProcessInfo[]): ProcessInfo[] {
  const run = worker.holderRun === null || holders.length === 0 ? null : runById(house.db, worker.holderRun);
  const carrying = run ? house.watch.allProcessesOf(run) : [];
  return carrying.length > 0 ? carrying : holders;
}

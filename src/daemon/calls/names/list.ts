import { SESSIONS_KEPT_PER_WORKER } from "../../../limits/index.ts";
import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import type { ProcessInfo } from "../../../runtime/process/index.ts";
import { allProjects } from "../../../store/projects.ts";
import { runById, runsOfWorker } from "../../../store/runs.ts";
import { boundConversation, conversationsOfWorker } from "../../../store/conversations.ts";
import { tombstonesOfWorker } from "../../../store/tombstones.ts";
import { workersOfProject, type Worker } from "../../../store/workers.ts";
import { iso } from "../../../util/iso.ts";
import { describeRun, describeConversation, describeWorker } from "../../status/describe.ts";
import type { Services } from "../../services.ts";
import { findWorker, projectOf } from "../../names/lookup.ts";
import { movedHere } from "../../names/moved.ts";
import type { CallContext } from "../context.ts";

/** Sends one item per worker, because the list of a large project would not fit into a frame. */
export async function lsCall(params: CallParams<"ls">, context: CallContext): Promise<CallResults["ls"]> {
  const { services } = context;
  await services.runs.pollNow();
  const own = params.all ? null : projectOf(services, params);
  const projects = params.all ? allProjects(services.db) : own ? [own] : [];
  let count = 0;
  for (const project of projects) {
    for (const worker of workersOfProject(services.db, project.id)) {
      const { summary } = describeWorker(services, project, worker);
      // What one agent says is not for another one to read: only the operator is told.
      const isTold = context.actor.kind === "operator" && summary.run !== null;
      const words = isTold ? services.conversations.lastWordsOf(summary.run?.id ?? "", worker) : null;
      await context.send({ ...summary, ...(words !== null && { words }) });
      count++;
    }
  }
  const moved = count === 0 && !params.all ? await movedHere(services, params) : [];
  return { count, ...(moved.length > 0 && { moved }) };
}

export async function showCall(params: CallParams<"show">, { services }: CallContext): Promise<CallResults["show"]> {
  await services.runs.pollNow();
  const { project, worker } = findWorker(services, params.target);
  const { summary, processes } = describeWorker(services, project, worker);
  const [last] = runsOfWorker(services.db, worker.id, 1);
  const current = boundConversation(services.db, worker);
  return {
    ...summary,
    createdAt: iso(worker.createdMs),
    command: worker.command,
    cwd: worker.cwd,
    environment: Object.keys(services.environments.of(worker)),
    ...(worker.environmentScope !== null && { environmentScope: worker.environmentScope }),
    ...(services.environments.isLost(worker) && { environmentLost: true }),
    formerNames: tombstonesOfWorker(services.db, worker.id).map(({ name }) => name),
    // Includes the program's own processes, not only the holder of the name.
    processes: allProcesses(services, worker, processes).map(({ pid, command }) => ({ pid, command })),
    lastRun: last ? describeRun(services, last) : null,
    conversation: current && describeConversation(services, worker, current),
  };
}

export async function historyCall(
  params: CallParams<"history">,
  context: CallContext,
): Promise<CallResults["history"]> {
  const { services } = context;
  await services.runs.pollNow();
  const { worker, address } = findWorker(services, params.target);
  for (const run of runsOfWorker(services.db, worker.id, params.limit)) await context.send(describeRun(services, run));
  const sessions = conversationsOfWorker(services.db, worker.id, SESSIONS_KEPT_PER_WORKER);
  return { address, sessions: sessions.map((conversation) => describeConversation(services, worker, conversation)) };
}

function allProcesses(services: Services, worker: Worker, holders: ProcessInfo[]): ProcessInfo[] {
  const run = worker.holderRun === null || holders.length === 0 ? null : runById(services.db, worker.holderRun);
  const carrying = run ? services.runs.allProcessesOf(run) : [];
  return carrying.length > 0 ? carrying : holders;
}

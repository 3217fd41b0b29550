import { insertEvent } from "../store/events.ts";
import type { Run } from "../store/runs.ts";
import { setUnresumable, workerById, type Worker } from "../store/workers.ts";
import type { BaseServices, ChangeServices } from "./base-services.ts";

interface EventSubject {
  projectId?: number;
  workerId?: number;
  run?: string;
  generation?: number;
}

/** Records an event inside a change: the event is kept if and only if the change is. */
export function recordEvent(
  services: ChangeServices,
  type: string,
  subject: EventSubject,
  data: Record<string, unknown> = {},
): void {
  insertEvent(services.db, {
    atMs: services.now(),
    type,
    projectId: subject.projectId ?? null,
    workerId: subject.workerId ?? null,
    runId: subject.run ?? null,
    generation: subject.generation ?? null,
    data: JSON.stringify(data),
  });
}

/** Records, inside a change, an event of a run; a run whose worker is gone has no reader, so nothing is recorded. */
export function recordRunEvent(
  services: ChangeServices,
  type: string,
  { id: run, workerId, generation }: Run,
  data: Record<string, unknown>,
): void {
  const projectId = workerById(services.db, workerId)?.projectId;
  if (projectId !== undefined) recordEvent(services, type, { projectId, workerId, run, generation }, data);
}

/** Records an event of a run in a change of its own, so that `events -f` shows it. */
export async function publishRunEvent(
  services: ChangeServices & Pick<BaseServices, "writer">,
  run: Run,
  type: string,
  data: Record<string, unknown> = {},
): Promise<void> {
  await services.writer.write(() => recordRunEvent(services, type, run, data));
}

/** Records, inside a change, why a worker cannot be resumed, which `ls` shows until a start succeeds. */
export function recordUnresumable(services: ChangeServices, { id, projectId }: Worker, reason: string): void {
  setUnresumable(services.db, id, reason);
  recordEvent(services, "worker.unresumable", { projectId, workerId: id }, { reason });
}

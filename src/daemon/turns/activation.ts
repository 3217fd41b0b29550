import { nameKey } from "../../protocol/names.ts";
import { OPERATOR, SUPERVISOR } from "../../protocol/records/mail.ts";
import type { Db } from "../../store/db.ts";
import type { Message } from "../../store/messages.ts";
import { fleetSettingsOf, workerById, type Worker } from "../../store/workers.ts";
import { adapterOf } from "../../vendors/index.ts";
import { isNestedName } from "../mail/sender.ts";

/**
 * Tells whether the sender of a message may begin a turn of the worker, in which nobody can be asked: whom `turns_from` names, by default
 * the operator, the worker's supervisor, and workers of the same fleet. Where the worker's arguments let its program act without asking,
 * the operator alone. A nested agent, and a worker that another worker has started, never may.
 */
export function mayActivate({ db }: { db: Db }, worker: Worker, message: Message): boolean {
  const { turnsFrom } = fleetSettingsOf(worker);
  const allowed = turnsFrom ?? (skipsPermissions(worker) === null ? null : [OPERATOR]);
  const mayBe = (word: string): boolean => allowed === null || allowed.includes(word);
  if (message.fromWorker === null) {
    // Whom nobody else has started, the operator has.
    const isSupervisor = worker.startedBy === null && mayBe(SUPERVISOR);
    return message.fromName === OPERATOR && (mayBe(OPERATOR) || isSupervisor);
  }
  const sender = workerById(db, message.fromWorker);
  if (sender === null || isNestedName(message.fromName) || sender.projectId !== worker.projectId) return false;
  if (worker.startedBy === sender.id && mayBe(SUPERVISOR)) return true;
  if (sender.startedBy !== null || sender.ephemeral) return false;
  if (allowed === null) return sender.fleet !== null;
  return allowed.some((name) => nameKey(name) === sender.nameKey);
}

/** Returns the argument that lets the worker's program act without asking anybody; null if there is none. */
function skipsPermissions({ vendor, command, programAt }: Worker): string | null {
  const args = (command ?? []).slice((programAt ?? 0) + 1);
  return (vendor === null ? null : adapterOf(vendor)?.turn?.skipsPermissions(args)) ?? null;
}

import type { CallParams } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { verb } from "../../protocol/hint.ts";
import { formatAddress } from "../../protocol/names.ts";
import { FILE_SENDER, OPERATOR } from "../../protocol/records/mail.ts";
import type { Message } from "../../store/messages.ts";
import { projectById, type Project } from "../../store/projects.ts";
import { runById, type Run } from "../../store/runs.ts";
import { workerById, type Worker } from "../../store/workers.ts";
import { requirePresent } from "../../util/require-present.ts";
import { assertCurrent, assertOwn, type Actor } from "../permissions/actor.ts";
import type { MailServices } from "./services.ts";

/** The sender or reader, as the run's token proves it; a name in a message is never trusted. */
export interface Sender {
  /** The worker; null for the operator. */
  worker: Worker | null;
  run: Run | null;
  project: Project | null;
  /** The sender's address, with a suffix for a nested agent, or `operator`. */
  name: string;
}

/** Returns the sender, inside a change, so that a takeover committed meanwhile counts. */
export function senderOf(
  services: MailServices,
  actor: Actor,
  { as, nested }: Pick<CallParams<"send">, "as" | "nested">,
): Sender {
  if (as !== null) assertOwn(services, as);
  const run = as === null ? (actor.kind === "worker" ? actor.run : null) : runById(services.db, as.run);
  if (run === null) return { worker: null, run: null, project: null, name: OPERATOR };
  assertCurrent(services, run.id, run.generation);
  const worker = requirePresent(workerById(services.db, run.workerId), `the worker of run ${run.id}`);
  const project = requirePresent(projectById(services.db, worker.projectId), `the project of run ${run.id}`);
  const address = formatAddress(project.slug, worker.name);
  return { worker, run, project, name: nested ? `${address}${NESTED}` : address };
}

/** The sender of a file that was put into a folder: it says nothing about who has written it, so it is nobody, and may nothing. */
export function fileSender(project: Project, name: string): Sender {
  return { worker: null, run: null, project, name: `${FILE_SENDER}${name}` };
}

const NESTED = "~nested";

/** Tells whether a sender's name is that of a nested agent. */
export function isNestedName(name: string): boolean {
  return name.endsWith(NESTED);
}

/** Tells whether the sender sent the message, and may cancel or supersede it. A nested agent did not send its worker's mail. */
export function isSentBy({ worker, name }: Sender, message: Pick<Message, "fromWorker" | "fromName">): boolean {
  if (message.fromWorker !== (worker?.id ?? null)) return false;
  return !isNestedName(name) || isNestedName(message.fromName);
}

/** Refuses nested agents, which have no mailbox: they inherited the worker's environment, not its identity. */
export function assertNotNested({ nested }: Pick<CallParams<"send">, "nested">, { name }: Sender): void {
  if (!nested) return;
  throw new PerdureError("refused", `${name} is a nested agent, which has no mailbox.`, {
    hint: verb("send", "supervisor", "TEXT"),
  });
}

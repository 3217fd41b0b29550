import type { CallParams } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { formatAddress } from "../../protocol/names.ts";
import { OPERATOR } from "../../protocol/records/mail.ts";
import type { Message } from "../../store/messages.ts";
import { projectById, type Project } from "../../store/projects.ts";
import { runById, type Run } from "../../store/runs.ts";
import { workerById, type Worker } from "../../store/workers.ts";
import { requirePresent } from "../../util/require-present.ts";
import { assertCurrent, assertOwn, type Actor } from "../permissions/actor.ts";
import type { MailServices } from "./services.ts";

/** Who sends or reads, as the daemon knows it: from a run's token, never from what is said. */
export interface Sender {
  /** Null for the operator. */
  worker: Worker | null;
  run: Run | null;
  project: Project | null;
  /** Its address, or `operator`; of a nested agent, with the mark of one. */
  name: string;
}

/** Inside a change, so that a takeover that was committed meanwhile counts. */
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

const NESTED = "~nested";

/** Whose it is to call back or to replace: its sender's. A nested agent's are those it sent itself, not its worker's. */
export function isSentBy({ worker, name }: Sender, message: Pick<Message, "fromWorker" | "fromName">): boolean {
  if (message.fromWorker !== (worker?.id ?? null)) return false;
  return !name.endsWith(NESTED) || message.fromName.endsWith(NESTED);
}

/** An agent that a worker's agent started has no box: it inherited the environment, not the identity. */
export function assertNotNested({ nested }: Pick<CallParams<"send">, "nested">, { name }: Sender): void {
  if (!nested) return;
  throw new PerdureError("refused", `${name} is a nested agent, and those consume no mail.`, {
    hint: "perdure send supervisor TEXT",
  });
}

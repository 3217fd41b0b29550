import { PerdureError } from "../../protocol/errors.ts";
import { nameKey } from "../../protocol/names.ts";
import { OPERATOR, SUPERVISOR } from "../../protocol/records/mail.ts";
import type { ProjectRef } from "../../protocol/calls/index.ts";
import type { Project } from "../../store/projects.ts";
import { workerById, workerByName, workersOfProject } from "../../store/workers.ts";
import type { Worker } from "../../store/workers.ts";
import type { MailServices } from "./services.ts";
import { findWorker, renamedTo, projectOf, registerProject } from "../names/lookup.ts";
import { findOrCreateWorker } from "../names/workers.ts";
import type { Sender } from "./sender.ts";

export interface Recipient {
  project: Project;
  /** Null for the operator. */
  worker: Worker | null;
  /** The name that was used, when it is not its own any more. */
  renamedFrom: string | null;
}

interface RecipientScope {
  here: ProjectRef;
  project: string | null;
  /** Names that the project's file declares: they have a box before they ever ran. */
  declared: readonly string[];
}

/** Inside a change: a declared name becomes a worker with its first message. */
export function recipientOf(
  services: MailServices,
  sender: Sender,
  scope: RecipientScope,
  name: string,
  nested: boolean,
): Recipient {
  const project = projectFor(services, sender, scope);
  const key = nameKey(name);
  if (key === OPERATOR) return { project, worker: null, renamedFrom: null };
  if (key === SUPERVISOR) return { project, worker: supervisorOf(services, sender, nested), renamedFrom: null };
  const known = workerByName(services.db, project.id, key);
  if (known) return { project, worker: known, renamedFrom: null };
  const heir = renamedTo(services, project.id, key);
  if (heir && heir.retiredMs === null) return { project, worker: heir, renamedFrom: name };
  const declared = scope.declared.find((each) => nameKey(each) === key);
  if (declared !== undefined) {
    return { project, worker: findOrCreateWorker(services, project, declared, false), renamedFrom: null };
  }
  // By a run's id, or not at all: then it says which names are near.
  const { worker } = findWorker(services, { project: project.slug, name, here: scope.here });
  return { project, worker, renamedFrom: null };
}

/** Every worker of the project but the sender. */
export function allRecipients(services: MailServices, sender: Sender, scope: RecipientScope): Recipient[] {
  const project = projectFor(services, sender, scope);
  return workersOfProject(services.db, project.id)
    .filter(({ id, ephemeral }) => id !== sender.worker?.id && !ephemeral)
    .map((worker) => ({ project, worker, renamedFrom: null }));
}

/** A worker's mail stays in its project; the operator is at home in all of them. */
export function projectFor(services: MailServices, sender: Sender, { here, project }: RecipientScope): Project {
  const asked = projectOf(services, { project, here });
  if (sender.project === null) return asked ?? registerProject(services, here);
  if (project === null || asked?.id === sender.project.id) return sender.project;
  throw new PerdureError("refused", `${sender.name} may not mail another project (${project}).`, {
    hint: "mail stays inside a project; the operator can pass it on: perdure send operator TEXT",
  });
}

/** Whoever started it; a nested agent's is the worker it belongs to. The operator when nobody else did. */
function supervisorOf(services: MailServices, { worker }: Sender, nested: boolean): Worker | null {
  if (worker === null) {
    throw new PerdureError("usage", "The operator has no supervisor.", { hint: "perdure ls lists who can be mailed" });
  }
  if (nested) return worker;
  const above = worker.startedBy === null ? null : workerById(services.db, worker.startedBy);
  return above?.retiredMs === null ? above : null;
}

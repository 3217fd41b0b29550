import { PerdureError } from "../../protocol/errors.ts";
import { hintOf, verb } from "../../protocol/hint.ts";
import { nameKey } from "../../protocol/names.ts";
import { OPERATOR, SUPERVISOR } from "../../protocol/records/mail.ts";
import type { ProjectRef } from "../../protocol/calls/index.ts";
import type { Project } from "../../store/projects.ts";
import { workerById, workerByName, workersOfProject, type Worker } from "../../store/workers.ts";
import { findWorker, renamedTo, projectOf, registerProject } from "../names/lookup.ts";
import { findOrCreateWorker } from "../names/workers.ts";
import type { MailServices } from "./services.ts";
import type { Sender } from "./sender.ts";

export interface Recipient {
  project: Project;
  /** The worker; null for the operator. */
  worker: Worker | null;
  /** The name that was used, if it is a former name of the worker. */
  renamedFrom: string | null;
}

interface RecipientScope {
  here: ProjectRef;
  project: string | null;
}

/** The names that perdure.toml declares, by their keys; they have a mailbox before they ever ran. */
export type DeclaredNames = ReadonlyMap<string, string>;

/** Makes a table of the declared names, because mail may go to as many as there are; the first of those with the same key counts. */
export function namesByKey(names: readonly string[]): DeclaredNames {
  return new Map(names.toReversed().map((name) => [nameKey(name), name]));
}

/** Returns the recipient, inside a change, in which a declared name becomes a worker with its first message. */
export function recipientOf(
  services: MailServices,
  sender: Sender,
  scope: RecipientScope,
  declared: DeclaredNames,
  name: string,
  nested: boolean,
): Recipient {
  const project = projectFor(services, sender, scope);
  const key = nameKey(name);
  if (key === OPERATOR) return { project, worker: null, renamedFrom: null };
  if (key === SUPERVISOR) return { project, worker: supervisorOf(services, sender, nested), renamedFrom: null };
  const known = workerByName(services.db, project.id, key);
  if (known) return { project, worker: known, renamedFrom: null };
  const renamed = renamedTo(services, project.id, key);
  if (renamed && renamed.retiredMs === null) return { project, worker: renamed, renamedFrom: name };
  const declaredName = declared.get(key);
  if (declaredName !== undefined) {
    return { project, worker: findOrCreateWorker(services, project, declaredName, false), renamedFrom: null };
  }
  // The name may be a run's id; else findWorker throws with similar names.
  const { worker } = findWorker(services, { project: project.slug, name, here: scope.here });
  return { project, worker, renamedFrom: null };
}

/** Returns every worker of the project except the sender. */
export function allRecipients(services: MailServices, sender: Sender, scope: RecipientScope): Recipient[] {
  const project = projectFor(services, sender, scope);
  return workersOfProject(services.db, project.id)
    .filter(({ id, ephemeral }) => id !== sender.worker?.id && !ephemeral)
    .map((worker) => ({ project, worker, renamedFrom: null }));
}

/** Returns the project of the mail: a worker's mail stays in its own project, the operator's goes to any. */
export function projectFor(services: MailServices, sender: Sender, { here, project }: RecipientScope): Project {
  const named = projectOf(services, { project, here });
  if (sender.project === null) return named ?? registerProject(services, here);
  if (project === null || named?.id === sender.project.id) return sender.project;
  throw new PerdureError("refused", `${sender.name} may not mail another project (${project}).`, {
    hint: hintOf`mail stays inside a project; the operator can pass it on: ${verb("send", "operator", "TEXT")}`,
  });
}

/** Returns the worker that started the sender, or null for the operator. A nested agent's supervisor is its own worker. */
function supervisorOf(services: MailServices, { worker }: Sender, nested: boolean): Worker | null {
  if (worker === null) {
    throw new PerdureError("usage", "The operator has no supervisor.", {
      hint: hintOf`${verb("ls")} lists who can be mailed`,
    });
  }
  if (nested) return worker;
  const above = worker.startedBy === null ? null : workerById(services.db, worker.startedBy);
  return above?.retiredMs === null ? above : null;
}

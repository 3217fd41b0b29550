import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import { PerdureError } from "../../../protocol/errors.ts";
import { verb } from "../../../protocol/hint.ts";
import { checkName, nameKey } from "../../../protocol/names.ts";
import type { Project } from "../../../store/projects.ts";
import {
  activeSaved,
  deleteSaved,
  dropSavedConversations,
  savedByName,
  savedOfProject,
  setActiveSaved,
  setSavedConversation,
  touchSaved,
  type SavedSession,
} from "../../../store/saved.ts";
import { workersOfProject, type Worker } from "../../../store/workers.ts";
import { recordEvent } from "../../events.ts";
import type { Services } from "../../services.ts";
import { projectOf } from "../../names/lookup.ts";
import { describeSaved, findOrCreateSaved, unknownSavedError } from "../../saved/saved.ts";
import type { CallContext } from "../context.ts";

/** Saves the conversation of every worker under one name; if asked for, that name follows the workers until another one does. */
export async function saveCall(params: CallParams<"save">, { services }: CallContext): Promise<CallResults["save"]> {
  const name = params.name === null ? null : checkName(params.name, "name for a saved session");
  return services.writer.write(() => {
    const project = projectOf(services, params);
    const workers = project ? workersOfProject(services.db, project.id).filter(hasConversation) : [];
    if (project === null || workers.length === 0) {
      throw new PerdureError("not-found", "No worker of this project is in a conversation yet.", {
        hint: verb("run", "NAME", "--", "COMMAND"),
      });
    }
    const saved = name === null ? requireActiveSaved(services, project) : findOrCreateSaved(services, project, name);
    dropSavedConversations(services.db, saved.id);
    for (const worker of workers) setSavedConversation(services.db, saved.id, worker.id, worker.conversationId);
    touchSaved(services.db, saved.id, services.now());
    if (params.follow ?? true) setActiveSaved(services.db, project.id, saved.id);
    recordEvent(services, "saved.written", { projectId: project.id }, { name: saved.name, workers: workers.length });
    return describeSaved(services, project, savedByName(services.db, project.id, saved.nameKey) ?? saved);
  });
}

function hasConversation(worker: Worker): worker is Worker & { conversationId: number } {
  return worker.conversationId !== null;
}

function requireActiveSaved(services: Services, project: Project): SavedSession {
  const active = activeSaved(services.db, project.id);
  if (active) return active;
  throw new PerdureError("usage", "No saved session is active in this project, so a name is needed.", {
    hint: verb("save", "NAME"),
  });
}

export async function savedCall(params: CallParams<"saved">, context: CallContext): Promise<CallResults["saved"]> {
  const { services } = context;
  const project = projectOf(services, params);
  const rows = project ? savedOfProject(services.db, project.id) : [];
  if (project) for (const saved of rows) await context.send(describeSaved(services, project, saved));
  return { count: rows.length };
}

/** Deletes a saved session, not its conversations. */
export async function forgetCall(
  params: CallParams<"forget">,
  { services }: CallContext,
): Promise<CallResults["forget"]> {
  return services.writer.write(() => {
    const project = projectOf(services, params);
    const rows = project ? savedOfProject(services.db, project.id) : [];
    const saved = rows.find(({ nameKey: key }) => key === nameKey(params.name));
    if (!project || !saved) throw unknownSavedError(params.name, rows);
    deleteSaved(services.db, saved.id);
    recordEvent(services, "saved.forgotten", { projectId: project.id }, { name: saved.name });
    return { name: saved.name };
  });
}

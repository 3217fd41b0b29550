import { SAVED_PER_PROJECT_MAX } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { verb } from "../../protocol/hint.ts";
import type { SavedRecord } from "../../protocol/records/fleet.ts";
import { nameKey, nearest, formatAddress } from "../../protocol/names.ts";
import type { Project } from "../../store/projects.ts";
import {
  activeSaved,
  insertSaved,
  savedByName,
  savedOfProject,
  conversationsOfSaved,
  type SavedSession,
} from "../../store/saved.ts";
import { conversationById } from "../../store/conversations.ts";
import type { ChangeServices } from "../base-services.ts";
import { iso } from "../../util/iso.ts";

export function describeSaved(
  services: Pick<ChangeServices, "db">,
  project: Project,
  saved: SavedSession,
): SavedRecord {
  return {
    name: saved.name,
    project: project.slug,
    active: activeSaved(services.db, project.id)?.id === saved.id,
    createdAt: iso(saved.createdMs),
    updatedAt: iso(saved.updatedMs),
    workers: conversationsOfSaved(services.db, saved.id).flatMap(({ name, conversationId: id }) => {
      const conversation = conversationById(services.db, id);
      if (conversation === null) return [];
      const { vendor, vendorId: sessionId, launchCwd, configDir } = conversation;
      return [{ name, address: formatAddress(project.slug, name), vendor, sessionId, launchCwd, configDir }];
    }),
  };
}

/** Returns the saved session of this name, or makes one, inside a change. */
export function findOrCreateSaved(services: ChangeServices, project: Project, name: string): SavedSession {
  const known = savedByName(services.db, project.id, nameKey(name));
  if (known) return known;
  if (savedOfProject(services.db, project.id).length >= SAVED_PER_PROJECT_MAX) {
    throw new PerdureError("refused", `Limit of ${SAVED_PER_PROJECT_MAX} saved sessions in this project reached.`, {
      hint: verb("forget", "NAME"),
    });
  }
  const now = services.now();
  const row = { projectId: project.id, name, nameKey: nameKey(name), createdMs: now, updatedMs: now };
  return { ...row, id: insertSaved(services.db, row) };
}

export function unknownSavedError(name: string, rows: readonly SavedSession[]): PerdureError {
  const [near] = nearest(
    name,
    rows.map((saved) => saved.name),
  );
  return new PerdureError("not-found", `There is no saved session ${JSON.stringify(name)} here.`, {
    hint: near ? `did you mean ${near}?` : verb("saved"),
  });
}

import { SAVED_PER_PROJECT_MAX } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import type { SavedRecord } from "../../protocol/records/fleet.ts";
import { nameKey, nearest } from "../../protocol/names.ts";
import type { ProjectRow } from "../../store/projects.ts";
import {
  activeSaved,
  insertSaved,
  savedByName,
  savedOfProject,
  sessionsOfSaved,
  type SavedRow,
} from "../../store/saved.ts";
import { sessionById } from "../../store/conversations.ts";
import { iso } from "../names/describe.ts";
import type { House } from "../services.ts";

export function describeSaved(house: Pick<House, "db">, project: ProjectRow, saved: SavedRow): SavedRecord {
  return {
    name: saved.name,
    project: project.slug,
    active: activeSaved(house.db, project.id)?.id === saved.id,
    createdAt: iso(saved.created_ms),
    updatedAt: iso(saved.updated_ms),
    workers: sessionsOfSaved(house.db, saved.id).flatMap(({ name, session_id: id }) => {
      const session = sessionById(house.db, id);
      if (session === null) return [];
      const { vendor, vendor_id: sessionId, launch_cwd: launchCwd, config_dir: configDir } = session;
      return [{ name, address: `${project.slug}/${name}`, vendor, sessionId, launchCwd, configDir }];
    }),
  };
}

/** Inside a change. */
export function findOrInsert(house: House, project: ProjectRow, name: string): SavedRow {
  const known = savedByName(house.db, project.id, nameKey(name));
  if (known) return known;
  if (savedOfProject(house.db, project.id).length >= SAVED_PER_PROJECT_MAX) {
    throw new PerdureError("refused", `This project has ${SAVED_PER_PROJECT_MAX} saved sessions already.`, {
      hint: "perdure forget NAME",
    });
  }
  const now = house.now();
  const row = { project_id: project.id, name, name_key: nameKey(name), created_ms: now, updated_ms: now };
  return { ...row, id: insertSaved(house.db, row) };
}

export function unknownSaved(given: string, rows: readonly SavedRow[]): PerdureError {
  const [near] = nearest(
    given,
    rows.map(({ name }) => name),
  );
  return new PerdureError("not-found", `There is no saved session ${JSON.stringify(given)} here.`, {
    hint: near ? `did you mean ${near}?` : "perdure saved",
  });
}

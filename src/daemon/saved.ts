import type { SavedRecord } from "../protocol/findings.ts";
import type { ProjectRow } from "../store/projects.ts";
import { activeSaved, sessionsOfSaved, type SavedRow } from "../store/saved.ts";
import { sessionById } from "../store/sessions.ts";
import { iso } from "./describe.ts";
import type { House } from "./house.ts";

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

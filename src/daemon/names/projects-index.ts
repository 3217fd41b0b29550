import { allProjects } from "../../store/projects.ts";
import { writeProjectsIndex } from "../../state/projects-file.ts";
import type { BaseServices } from "../base-services.ts";

/** Writes the index of projects for readers without a daemon: at start, after each registration and each move. */
export function publishProjects(services: BaseServices): void {
  const index = Object.fromEntries(allProjects(services.db).map(({ identity, slug }) => [identity, slug]));
  try {
    writeProjectsIndex(services.paths.projectsFile, index);
  } catch (error) {
    services.log(`the index of projects is not up to date: ${String(error)}`); // only a cache, for whoami
  }
}

import { allProjects } from "../../store/projects.ts";
import { writeProjectsIndex } from "../../state/projects-file.ts";
import type { BaseServices } from "../base-services.ts";

/** For readers without a daemon. Written at start, after each registration and each move. */
export function publishProjects(services: BaseServices): void {
  const index = Object.fromEntries(allProjects(services.db).map(({ identity, slug }) => [identity, slug]));
  try {
    writeProjectsIndex(services.paths.projectsFile, index);
  } catch (error) {
    services.log(`the index of projects is not up to date: ${String(error)}`); // a cache: whoami can be behind for a while
  }
}

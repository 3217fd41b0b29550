import { allProjects } from "../../store/projects.ts";
import { writeProjectsIndex } from "../../state/projects-file.ts";
import type { House } from "../services.ts";

/** For readers without a daemon. Written at start, after each registration and each move. */
export function publishProjects(house: House): void {
  const index = Object.fromEntries(allProjects(house.db).map(({ identity, slug }) => [identity, slug]));
  try {
    writeProjectsIndex(house.paths.projectsFile, index);
  } catch (error) {
    house.log(`the index of projects is not up to date: ${String(error)}`); // a cache: whoami can be behind for a while
  }
}

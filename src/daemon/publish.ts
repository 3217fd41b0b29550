import { allProjects } from "../store/projects.ts";
import { writeProjectsIndex } from "../state/projects-file.ts";
import type { House } from "./house.ts";

/** For readers without a daemon. Written at start, after each registration and each move. */
export function publishProjects(house: House): void {
  writeProjectsIndex(
    house.paths.projectsFile,
    Object.fromEntries(allProjects(house.db).map(({ identity, slug }) => [identity, slug])),
  );
}

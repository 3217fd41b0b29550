import { existsSync } from "node:fs";
import { danglingGitDir, findProjectIfThere } from "../../project/find.ts";
import { isIn } from "../../project/path-inside.ts";
import type { ProjectRef, Target } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { hintOf, joinHints, verb, type HintLike } from "../../protocol/hint.ts";
import { formatAddress, nameKey } from "../../protocol/names.ts";
import { projectsWithWorker, type Project } from "../../store/projects.ts";
import { workerByName } from "../../store/workers.ts";
import type { ChangeServices } from "../base-services.ts";
import { shellWords } from "../../util/shell-quote.ts";
import { projectAt } from "./lookup.ts";

// Which project a folder belongs to is decided by what lies in it and above it, so that a `git init`, a perdure.toml or a lost .git
// changes it under workers that were started there. They stay with their project, and their names must not begin anew in silence.

/** How the caller's folder came from a project to another one, without having been moved. */
type Parting =
  /** The project's own folder is part of the caller's project now: something above it was made a project. */
  | { how: "absorbed" }
  /** The project is where it was, and the folder in which the worker was last started belongs to the caller's project now. */
  | { how: "parted"; folder: string }
  /** The caller's working tree belonged to the project's repository, to which its `.git` does not lead any more. */
  | { how: "unlinked"; tree: string; gitDir: string };

type Here = Pick<ProjectRef, "identity" | "root">;

/** Refuses to make a worker of a name that one has in a project which the caller's folder belonged to before. */
export function assertNotLeftBehind(
  services: ChangeServices,
  others: readonly Project[],
  here: Here,
  name: string,
  start: HintLike,
): void {
  const unlinked = danglingGitDir(here.root);
  const partings = others.flatMap((project) => {
    const cwd = workerByName(services.db, project.id, nameKey(name))?.cwd ?? null;
    const parting = unlinkedFrom(project, unlinked) ?? partingOf(services, project, cwd, here);
    return parting === null ? [] : [{ project, parting }];
  });
  if (partings.length === 0) return;
  const said = partings.map(({ project, parting }) => describe(project, parting, here, name));
  throw new PerdureError("refused", `${name} is a worker of ${said.map(({ whose }) => whose).join(" and of ")}.`, {
    hint: hintOf`${joinHints(
      said.map(({ way }) => way),
      "; or ",
    )}; or start over here: ${start}`,
    details: { movedFrom: partings.map(({ project: { slug, root } }) => ({ slug, root })) },
  });
}

/**
 * Refuses a bare name of a worker where another of that name was at home before: in the folder of a project that has become part of
 * this one. Each has its address.
 */
export function assertNotAmbiguous(
  services: ChangeServices,
  { project, here, name }: Target,
  folder: string | null,
): void {
  const own = project === null ? projectAt(services, here) : null;
  const worker = own && workerByName(services.db, own.id, nameKey(name));
  if (own === null || worker === null || folder === null) return;
  const other = projectsWithWorker(services.db, nameKey(name)).find(({ id, root }) => {
    return id !== own.id && isIn(root, folder) && !(worker.cwd !== null && isIn(root, worker.cwd));
  });
  if (other === undefined || !isAbsorbed(services, other, here)) return;
  const whose = `both of project ${own.slug} and of project ${other.slug}, whose folder ${other.root} belongs to ${own.root} now`;
  throw new PerdureError("refused", `${name} is a worker ${whose}.`, {
    hint: hintOf`say which: ${verb("run", `${own.slug}/${name}`)}, or ${verb("run", `${other.slug}/${name}`)}`,
    details: { addresses: [own, other].map(({ slug }) => formatAddress(slug, name)) },
  });
}

/** Tells whether the project's own folder has become part of the caller's project. */
export function isAbsorbed(services: ChangeServices, project: Project, here: Here): boolean {
  return partingOf(services, project, null, here)?.how === "absorbed";
}

function unlinkedFrom({ identity }: Project, dangling: ReturnType<typeof danglingGitDir>): Parting | null {
  return dangling !== null && isIn(identity, dangling.gitDir) ? { how: "unlinked", ...dangling } : null;
}

function partingOf(services: ChangeServices, project: Project, cwd: string | null, here: Here): Parting | null {
  const belongsTo = (folder: string): "here" | "project" | null => {
    const found = findProjectIfThere(folder);
    if (found === null) return null;
    if (found.identity === here.identity) return "here";
    return projectAt(services, found)?.id === project.id ? "project" : null;
  };
  const whole = belongsTo(project.root);
  if (whole === "here") return { how: "absorbed" };
  if (cwd !== null && belongsTo(cwd) === "here") return { how: "parted", folder: cwd };
  // Without its git a repository is no more than its topmost folder, and each folder below a project of its own.
  const lostGit = project.identity !== project.root && !existsSync(project.identity);
  return whole === "project" && lostGit && isIn(project.root, here.root) ? { how: "parted", folder: here.root } : null;
}

function describe(
  { slug, root, identity }: Project,
  parting: Parting,
  here: Here,
  name: string,
): { whose: string; way: HintLike } {
  const goOn = hintOf`go on with that one: ${verb("run", `${slug}/${name}`)}`;
  if (parting.how === "absorbed") {
    const whose = `project ${slug}, whose folder ${root} belongs to ${here.root} now`;
    return { whose, way: hintOf`bring its workers here: ${verb("project", "move", slug)}` };
  }
  if (parting.how === "parted") {
    return { whose: `project ${slug} (${root}), which ${parting.folder} belonged to before`, way: goOn };
  }
  const whose = `project ${slug} (${root}), to which ${parting.tree}/.git leads, and ${parting.gitDir} is not there`;
  const repair = shellWords(["git", "worktree", "repair", parting.tree]);
  const moved = hintOf`if that repository was moved, there: ${repair}, and ${verb("project", "move", slug)}`;
  return { whose, way: existsSync(identity) ? goOn : moved };
}

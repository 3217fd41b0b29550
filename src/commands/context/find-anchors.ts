import { lstatSync, readdirSync, statSync, type Stats } from "node:fs";
import { extname, join, parse } from "node:path";
import { ANCHORS_PER_CALL } from "../../limits/index.ts";
import { anchorFile, anchorFolder } from "../../project/context-file.ts";
import { requireInside } from "../../project/context-folder.ts";
import { workingTrees } from "../../project/find.ts";
import type { ProjectRef } from "../../protocol/calls/index.ts";
import { asPerdureError } from "../../protocol/errors.ts";
import type { AnchorOwner } from "../../protocol/records/run.ts";
import { irregularity } from "../../state/bounded-read.ts";
import { isErrno } from "../../state/files.ts";
import { callDaemon } from "../shared/call.ts";
import { projectOfRun, projectRefHere } from "../shared/here.ts";
import type { AnchorLocation } from "./anchor-paths.ts";

export interface Anchor {
  path: string;
  /** The working tree that contains the anchor. */
  tree: string;
  /** The file's own extension, without the dot. */
  ext: string;
  modifiedAt: string;
  bytes: number;
}

interface OwnedAnchor extends Anchor, Omit<AnchorOwner, "file"> {}

interface ForeignAnchor extends Anchor {
  /** The id that the file is called after; null for the one anchor of a project whose agent has no id. */
  id: string | null;
}

/** Something that lies where an anchor or their folder should be, and cannot be one. */
export interface Unusable {
  path: string;
  why: string;
}

export interface Anchors {
  /** Anchors of runs that ended without archiving, by worker, newest first. */
  orphaned: OwnedAnchor[];
  live: OwnedAnchor[];
  /** Anchors that belong to no run of this project, including the one without an id; newest first. */
  foreign: ForeignAnchor[];
  unusable: Unusable[];
}

/** Finds the anchors in every working tree of the project, because a worker may run in another tree than the caller. */
export async function findAnchors(location: AnchorLocation): Promise<Anchors> {
  const { found, settings } = location;
  const unusable: Unusable[] = [];
  const trees = workingTrees(found);
  const files = trees.flatMap((tree) => anchorsIn(tree, location, unusable));
  const withoutId = trees.flatMap((tree) =>
    extensionsOf(location).flatMap(
      (ext) => describe(anchorFile(tree, { ...settings, ext }, undefined), tree, unusable) ?? [],
    ),
  );
  const stem = (path: string): string => parse(path).name;
  const known = await ownersOf(
    projectRefHere(found),
    files.map((file) => stem(file.path)),
  );
  const owners = new Map(known.map((owner) => [owner.file, owner]));
  const owned = files.flatMap((anchor): OwnedAnchor[] => {
    const owner = owners.get(stem(anchor.path));
    if (owner === undefined) return [];
    const { file: _, ...rest } = owner;
    return [{ ...anchor, ...rest }];
  });
  const others = files.filter(({ path }) => !owners.has(stem(path)));
  const foreign = [
    ...withoutId.map((anchor) => ({ ...anchor, id: null })),
    ...others.map((anchor) => ({ ...anchor, id: stem(anchor.path) })),
  ];
  return {
    orphaned: owned.filter(({ live }) => !live).toSorted(byWorkerNewestFirst),
    live: owned.filter(({ live }) => live).toSorted(byWorkerNewestFirst),
    foreign: foreign.toSorted((a, b) => b.modifiedAt.localeCompare(a.modifiedAt)),
    unusable,
  };
}

/** The extensions of anchors: the one that is set, and those that another tool, or an earlier setting, has left some with. */
function extensionsOf({ settings }: AnchorLocation): string[] {
  return [...new Set([settings.ext, "md", "org"])];
}

/** Lists the anchors of one tree. What is wrong in it, a link that came with the repository, concerns no other tree. */
function anchorsIn(tree: string, location: AnchorLocation, unusable: Unusable[]): Anchor[] {
  const { settings } = location;
  const extensions = new Set(extensionsOf(location).map((ext) => `.${ext}`));
  const folder = anchorFolder(tree, settings.dir);
  try {
    requireInside(tree, folder);
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    if (stats === undefined) return [];
    if (!statSync(folder).isDirectory()) {
      unusable.push({ path: folder, why: `${folder} is not a folder.` });
      return [];
    }
    const names = readdirSync(folder).filter((name) => extensions.has(extname(name)));
    return names.flatMap((name) => describe(join(folder, name), tree, unusable) ?? []);
  } catch (error) {
    unusable.push({ path: folder, why: asPerdureError(error).message });
    return [];
  }
}

/** Describes an anchor; null for a file that is gone by now, and for what is no file of its own: it is neither read nor moved. */
function describe(path: string, tree: string, unusable: Unusable[]): Anchor | null {
  let stats: Stats | undefined;
  try {
    stats = lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // The problem is the folder's, and told with it.
    if (!isErrno(error, "ENOTDIR", "ELOOP")) unusable.push({ path, why: asPerdureError(error).message });
    return null;
  }
  if (stats === undefined) return null;
  const problem = stats.isSymbolicLink() ? "is a symbolic link" : irregularity(stats);
  if (problem === null)
    return { path, tree, ext: extname(path).slice(1), modifiedAt: stats.mtime.toISOString(), bytes: stats.size };
  unusable.push({ path, why: `${path} ${problem}.` });
  return null;
}

/** Asks the daemon which runs the anchors belong to, in batches: a project that was never swept has thousands. */
async function ownersOf(here: ProjectRef, stems: string[]): Promise<AnchorOwner[]> {
  const owners: AnchorOwner[] = [];
  for (let from = 0; from < stems.length; from += ANCHORS_PER_CALL) {
    const files = stems.slice(from, from + ANCHORS_PER_CALL);
    owners.push(...(await callDaemon("findAnchorOwners", { here, project: projectOfRun(), files })).known);
  }
  return owners;
}

function byWorkerNewestFirst(a: OwnedAnchor, b: OwnedAnchor): number {
  return a.worker.localeCompare(b.worker) || b.generation - a.generation;
}

import { existsSync, readdirSync, lstatSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { anchorFile, anchorFolder, relativeTo } from "../../project/context-file.ts";
import { workingTrees } from "../../project/find.ts";
import { ANCHORS_PER_CALL } from "../../limits/index.ts";
import type { ProjectRef } from "../../protocol/calls/index.ts";
import type { AnchorOwner } from "../../protocol/records/run.ts";
import { callDaemon } from "../shared/call.ts";
import type { Invocation } from "../shared/command.ts";
import { projectOfRun, projectRefHere } from "../shared/here.ts";
import { age, table } from "../shared/table.ts";
import { locateAnchor, type AnchorLocation } from "./anchor-paths.ts";

interface Anchor {
  path: string;
  /** The working tree that contains the anchor. */
  tree: string;
  modifiedAt: string;
  bytes: number;
}

interface OwnedAnchor extends Anchor, Omit<AnchorOwner, "file"> {}

interface Anchors {
  /** Anchors of runs that ended without archiving, by worker, newest first. */
  orphaned: OwnedAnchor[];
  live: OwnedAnchor[];
  /** Anchors that belong to no run of this project, including the one without an id. */
  foreign: Anchor[];
}

export async function contextRecover({ values, out }: Invocation): Promise<void> {
  const anchors = await findAnchors(locateAnchor(values));
  out.result({ anchors: anchors.orphaned, live: anchors.live, foreign: anchors.foreign }, () => {
    const rows = anchors.orphaned.map((anchor) => [
      anchor.worker,
      String(anchor.generation),
      anchor.reason ?? "",
      age(anchor.modifiedAt),
      relativeTo(process.cwd(), anchor.path),
    ]);
    return rows.length > 0 ? table(["WORKER", "RUN", "ENDED", "AGE", "CONTEXT"], rows, out.paint.dim) : "";
  });
  if (anchors.orphaned.length === 0) out.note("Nothing to recover.");
  if (anchors.foreign.length > 0)
    out.note(
      `${anchors.foreign.length} more belong to no run of this project (a person's or another tool's); --json lists them.`,
    );
}

export async function findAnchors(location: AnchorLocation): Promise<Anchors> {
  const files = anchorFiles(location);
  const stem = (path: string): string => basename(path, `.${location.settings.ext}`);
  const here = projectRefHere(location.found);
  const known = await ownersOf(
    here,
    files.map((file) => stem(file.path)),
  );
  const owners = new Map(known.map((owner) => [owner.file, owner]));
  const owned = files.flatMap((anchor): OwnedAnchor[] => {
    const owner = owners.get(stem(anchor.path));
    if (owner === undefined) return [];
    const { file: _, ...rest } = owner;
    return [{ ...anchor, ...rest }];
  });
  const withoutId = workingTrees(location.found).map((tree) => ({
    tree,
    path: anchorFile(tree, location.settings, undefined),
  }));
  return {
    orphaned: owned.filter(({ live }) => !live).toSorted(byWorkerNewestFirst),
    live: owned.filter(({ live }) => live).toSorted(byWorkerNewestFirst),
    foreign: [
      ...withoutId.filter(({ path }) => existsSync(path)).map(({ path, tree }) => describe(path, tree)),
      ...files.filter(({ path }) => !owners.has(stem(path))),
    ],
  };
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

/** Lists the anchors in every working tree of the project, because a worker may run in another tree than the caller. */
function anchorFiles({ found, settings }: AnchorLocation): Anchor[] {
  return workingTrees(found).flatMap((tree) => {
    const folder = anchorFolder(tree, settings.dir);
    if (!existsSync(folder) || !statSync(folder).isDirectory()) return [];
    const names = readdirSync(folder).filter((name) => name.endsWith(`.${settings.ext}`));
    return names.map((name) => describe(join(folder, name), tree));
  });
}

function describe(path: string, tree: string): Anchor {
  const stats = lstatSync(path);
  return { path, tree, modifiedAt: stats.mtime.toISOString(), bytes: stats.size };
}

function byWorkerNewestFirst(a: OwnedAnchor, b: OwnedAnchor): number {
  return a.worker.localeCompare(b.worker) || b.generation - a.generation;
}

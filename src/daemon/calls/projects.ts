import { existsSync } from "node:fs";
import type { CallParams, CallResults, ProjectRef } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { nameKey, nearest, shorten } from "../../protocol/names.ts";
import type { ProjectSummary } from "../../protocol/records/admin.ts";
import {
  allProjects,
  deleteProject,
  moveProject,
  projectByIdentity,
  projectBySlug,
  type ProjectRow,
} from "../../store/projects.ts";
import { rebaseSessions } from "../../store/conversations.ts";
import { countWorkers, countWorkersEver, rebaseFolders } from "../../store/workers.ts";
import { record, type House } from "../services.ts";
import { slugHere } from "../names/lookup.ts";
import { publishProjects } from "../names/projects-index.ts";
import type { CallContext } from "./context.ts";

export async function showProjectCall(
  { here }: CallParams<"showProject">,
  { house }: CallContext,
): Promise<CallResults["showProject"]> {
  const row = projectByIdentity(house.db, here.identity);
  if (row) return summary(house, row);
  return { slug: slugHere(house, here), root: here.root, identity: here.identity, registered: false, workers: 0 };
}

export async function listProjectsCall(
  _: CallParams<"listProjects">,
  context: CallContext,
): Promise<CallResults["listProjects"]> {
  const rows = allProjects(context.house.db);
  for (const row of rows) await context.send(summary(context.house, row));
  return { count: rows.length };
}

/** Called in the new place of a repository that was moved: its names, history and mail come along. */
export async function moveProjectCall(
  { here, old }: CallParams<"moveProject">,
  { house }: CallContext,
): Promise<CallResults["moveProject"]> {
  const moved = await house.writer.write(() => {
    const row = findOld(house, old);
    assertMovable(house, row, here);
    const empty = projectByIdentity(house.db, here.identity);
    if (empty && empty.id !== row.id) deleteProject(house.db, empty.id);
    moveProject(house.db, row.id, here.identity, here.root);
    rebaseFolders(house.db, row.id, row.root, here.root);
    rebaseSessions(house.db, row.id, row.root, here.root);
    record(house, "project.moved", { projectId: row.id }, { from: row.root, to: here.root });
    return { ...row, identity: here.identity, root: here.root };
  });
  publishProjects(house);
  return summary(house, moved);
}

function findOld(house: House, old: string): ProjectRow {
  const rows = allProjects(house.db);
  const row =
    projectBySlug(house.db, nameKey(old)) ?? rows.find(({ root, identity }) => root === old || identity === old);
  if (row) return row;
  const near = nearest(
    old,
    rows.map(({ slug }) => slug),
  );
  throw new PerdureError("not-found", `No project is called, or was at, ${JSON.stringify(shorten(old))}.`, {
    hint: near.length > 0 ? `did you mean ${near.join(" or ")}?` : "perdure project ls",
  });
}

function assertMovable(house: House, row: ProjectRow, here: ProjectRef): void {
  if (row.identity === here.identity) {
    throw new PerdureError("conflict", `Project ${row.slug} is here already (${row.root}).`, { hint: "nothing to do" });
  }
  if (existsSync(row.identity)) {
    throw new PerdureError("conflict", `Project ${row.slug} is still at ${row.root}; it was not moved.`, {
      hint: "move or remove that folder first",
    });
  }
  const other = projectByIdentity(house.db, here.identity);
  if (other && countWorkersEver(house.db, other.id) > 0) {
    throw new PerdureError("conflict", `This folder already is project ${other.slug}, with workers of its own.`, {
      hint: "perdure ls",
    });
  }
}

function summary(house: House, row: ProjectRow): ProjectSummary {
  return {
    slug: row.slug,
    root: row.root,
    identity: row.identity,
    registered: true,
    workers: countWorkers(house.db, row.id),
  };
}

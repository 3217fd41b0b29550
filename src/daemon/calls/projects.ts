import { existsSync } from "node:fs";
import type { ProjectSummary } from "../../protocol/records/admin.ts";
import type { CallParams, CallResults, ProjectRef } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { nameKey, nearest, shorten } from "../../protocol/names.ts";
import {
  allProjects,
  deleteProject,
  moveProject,
  projectByIdentity,
  projectBySlug,
  type Project,
} from "../../store/projects.ts";
import { rebaseConversations } from "../../store/conversations.ts";
import { countWorkers, countWorkersEver, rebaseFolders } from "../../store/workers.ts";
import { recordEvent } from "../events.ts";
import type { Services } from "../services.ts";
import { slugFor } from "../names/lookup.ts";
import { publishProjects } from "../names/projects-index.ts";
import type { CallContext } from "./context.ts";

export async function showProjectCall(
  { here }: CallParams<"showProject">,
  { services }: CallContext,
): Promise<CallResults["showProject"]> {
  const row = projectByIdentity(services.db, here.identity);
  if (row) return summary(services, row);
  return { slug: slugFor(services, here), root: here.root, identity: here.identity, registered: false, workers: 0 };
}

export async function listProjectsCall(
  _: CallParams<"listProjects">,
  context: CallContext,
): Promise<CallResults["listProjects"]> {
  const rows = allProjects(context.services.db);
  for (const row of rows) await context.send(summary(context.services, row));
  return { count: rows.length };
}

/** Moves a project to the caller's folder after its repository was moved there, with its names, history and mail. */
export async function moveProjectCall(
  { here, old }: CallParams<"moveProject">,
  { services }: CallContext,
): Promise<CallResults["moveProject"]> {
  const moved = await services.writer.write(() => {
    const row = findProject(services, old);
    assertMovable(services, row, here);
    const empty = projectByIdentity(services.db, here.identity);
    if (empty && empty.id !== row.id) deleteProject(services.db, empty.id);
    moveProject(services.db, row.id, here.identity, here.root);
    rebaseFolders(services.db, row.id, row.root, here.root);
    rebaseConversations(services.db, row.id, row.root, here.root);
    recordEvent(services, "project.moved", { projectId: row.id }, { from: row.root, to: here.root });
    return { ...row, identity: here.identity, root: here.root };
  });
  publishProjects(services);
  return summary(services, moved);
}

function findProject(services: Services, old: string): Project {
  const rows = allProjects(services.db);
  const row =
    projectBySlug(services.db, nameKey(old)) ?? rows.find(({ root, identity }) => root === old || identity === old);
  if (row) return row;
  const near = nearest(
    old,
    rows.map(({ slug }) => slug),
  );
  throw new PerdureError("not-found", `No project has the slug or path ${JSON.stringify(shorten(old))}.`, {
    hint: near.length > 0 ? `did you mean ${near.join(" or ")}?` : "perdure project ls",
  });
}

function assertMovable(services: Services, row: Project, here: ProjectRef): void {
  if (row.identity === here.identity) {
    throw new PerdureError("conflict", `Project ${row.slug} is already here (${row.root}).`, { hint: "nothing to do" });
  }
  if (existsSync(row.identity)) {
    throw new PerdureError("conflict", `Project ${row.slug} is still at ${row.root}; it was not moved.`, {
      hint: "move or remove that folder first",
    });
  }
  const other = projectByIdentity(services.db, here.identity);
  if (other && countWorkersEver(services.db, other.id) > 0) {
    throw new PerdureError("conflict", `This folder already is project ${other.slug}, with workers of its own.`, {
      hint: "perdure ls",
    });
  }
}

function summary(services: Services, row: Project): ProjectSummary {
  return {
    slug: row.slug,
    root: row.root,
    identity: row.identity,
    registered: true,
    workers: countWorkers(services.db, row.id),
  };
}

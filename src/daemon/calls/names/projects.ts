import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { worktreePath } from "../../../project/worktree/paths.ts";
import type { ProjectMove, ProjectSummary } from "../../../protocol/records/admin.ts";
import type { CallParams, CallResults, ProjectRef } from "../../../protocol/calls/index.ts";
import { PerdureError } from "../../../protocol/errors.ts";
import { verb } from "../../../protocol/hint.ts";
import { nameKey, nearest, shorten } from "../../../protocol/names.ts";
import { allProjects, moveProject, projectByIdentity, projectBySlug, type Project } from "../../../store/projects.ts";
import { boundConversation, rebaseConversations } from "../../../store/conversations.ts";
import { countWorkers, rebaseFolders, workersOfProject } from "../../../store/workers.ts";
import { openersOf, probeConversation } from "../../conversations/probe/probe.ts";
import { recordEvent } from "../../events.ts";
import { carryConversation } from "../../launch/carry.ts";
import { isReplaced } from "../../launch/replaced.ts";
import type { Services } from "../../services.ts";
import { projectAt, projectOfUid, slugFor } from "../../names/lookup.ts";
import { moveMessages } from "../../mail/integrity.ts";
import { recordFolder } from "../../names/fingerprints.ts";
import { isAbsorbed } from "../../names/left-behind.ts";
import { mergeInto } from "../../names/merge.ts";
import { isGone, ofSameRepository } from "../../names/moved.ts";
import { publishProjects } from "../../names/projects-index.ts";
import type { CallContext } from "../context.ts";

export async function showProjectCall(
  { here }: CallParams<"showProject">,
  { services }: CallContext,
): Promise<CallResults["showProject"]> {
  const row = projectAt(services, here);
  if (row) return summary(services, row);
  return {
    uid: null,
    slug: slugFor(services, here),
    root: here.root,
    identity: here.identity,
    registered: false,
    workers: 0,
  };
}

export async function listProjectsCall(
  _: CallParams<"listProjects">,
  context: CallContext,
): Promise<CallResults["listProjects"]> {
  const rows = allProjects(context.services.db);
  for (const row of rows) await context.send(summary(context.services, row));
  return { count: rows.length };
}

/** Moves a project to the caller's folder after its repository was moved there, or its folder became part of that one, with its names, history, mail and conversations. */
export async function moveProjectCall(
  { here, old }: CallParams<"moveProject">,
  { services }: CallContext,
): Promise<CallResults["moveProject"]> {
  const isMoved = (await ofSameRepository(services, [findProject(services, old)], here)).length > 0;
  const replaced = await isReplaced(findProject(services, old));
  const moved = await services.writer.write(() => {
    const row = findProject(services, old);
    const absorbed = isAbsorbed(services, row, here);
    if (!replaced) assertMovable(row, here, absorbed);
    const found = projectByIdentity(services.db, here.identity);
    // The repository that has taken the project's path may be what the project is from now on.
    const other = found?.id === row.id ? null : found;
    const moveMail = (): void => moveMessages(services, other?.id ?? row.id, row.id);
    if (other) mergeInto(services, row, other, { isSame: isMoved || absorbed, moveMail });
    moveProject(services.db, row.id, here.identity, here.root);
    recordFolder(services, { ...row, identity: here.identity, root: here.root });
    // The folders of an absorbed project are where they were.
    for (const { from, to } of absorbed ? [] : movedFolders(row.root, here.root)) {
      rebaseFolders(services.db, row.id, from, to);
      rebaseConversations(services.db, row.id, from, to);
    }
    recordEvent(services, "project.moved", { projectId: row.id }, { from: row.root, to: here.root });
    return { ...row, identity: here.identity, root: here.root };
  });
  publishProjects(services);
  return { ...summary(services, moved), ...(await carryAll(services, moved)) };
}

/** Lists the folders that have moved: the root, and the worktrees beside it if they were moved along. */
function movedFolders(from: string, to: string): { from: string; to: string }[] {
  const [treesFrom, treesTo] = [dirname(worktreePath(from, "any")), dirname(worktreePath(to, "any"))];
  const treesMoved = !existsSync(treesFrom) && existsSync(treesTo);
  return [{ from, to }, ...(treesMoved ? [{ from: treesFrom, to: treesTo }] : [])];
}

/** Carries the conversations of a moved project along. One that cannot be carried now is tried again by the next start. */
async function carryAll(services: Services, { id }: Project): Promise<Pick<ProjectMove, "carried" | "left">> {
  const carried: string[] = [];
  const left: ProjectMove["left"] = [];
  for (const worker of workersOfProject(services.db, id)) {
    const conversation = boundConversation(services.db, worker);
    if (conversation === null || (await openersOf(services, conversation)).length > 0) continue;
    const transcript = await probeConversation(services, conversation);
    const outcome = await carryConversation(services, conversation, transcript);
    if (outcome.carried) carried.push(worker.name);
    if (outcome.obstacle !== null) left.push({ name: worker.name, why: outcome.obstacle });
  }
  return { carried, left };
}

function findProject(services: Services, old: string): Project {
  const rows = allProjects(services.db);
  const row =
    projectBySlug(services.db, nameKey(old)) ??
    rows.find(({ root, identity }) => root === old || identity === old) ??
    projectOfUid(services, old);
  if (row) return row;
  const near = nearest(
    old,
    rows.map(({ slug }) => slug),
  );
  throw new PerdureError("not-found", `No project has the slug or path ${JSON.stringify(shorten(old))}.`, {
    hint: near.length > 0 ? `did you mean ${near.join(" or ")}?` : verb("project", "ls"),
  });
}

function assertMovable(row: Project, here: ProjectRef, absorbed: boolean): void {
  if (row.identity === here.identity) {
    throw new PerdureError("conflict", `Project ${row.slug} is already here (${row.root}).`, { hint: "nothing to do" });
  }
  if (absorbed || isGone(row, here)) return;
  throw new PerdureError("conflict", `Project ${row.slug} is still at ${row.root}; it was not moved.`, {
    hint: "move or remove that folder first",
  });
}

function summary(services: Services, row: Project): ProjectSummary {
  return {
    uid: row.uid,
    slug: row.slug,
    root: row.root,
    identity: row.identity,
    registered: true,
    workers: countWorkers(services.db, row.id),
  };
}

import { PerdureError } from "../../protocol/errors.ts";
import { hintOf, joinHints, verb } from "../../protocol/hint.ts";
import { conversationsOfWorker, releaseConversations } from "../../store/conversations.ts";
import { clearDesired } from "../../store/fleet.ts";
import { hasMessages } from "../../store/messages.ts";
import { mergeProject, type Project } from "../../store/projects.ts";
import { holderOf } from "../../store/runs.ts";
import { dropSavedOfWorker, savedByName, savedOfProject } from "../../store/saved.ts";
import { deleteTombstonesOfWorker } from "../../store/tombstones.ts";
import { retireWorker, workerByName, workersOfProject, type Worker } from "../../store/workers.ts";
import { SESSIONS_KEPT_PER_WORKER } from "../../limits/index.ts";
import type { LaunchServices } from "../launch/services.ts";
import { recordEvent } from "../events.ts";

/**
 * Gives the workers of the project that the folder has become to the one that was moved there, inside a change. Where both have a
 * worker of a name, the moved one stays, and the other is retired if nothing was ever said in it; else nothing is changed.
 */
export function mergeInto(
  services: LaunchServices,
  moved: Project,
  other: Project,
  { isSame, moveMail }: MergeOptions,
): void {
  const workers = workersOfProject(services.db, other.id);
  if (!isSame) assertNoWorkers(moved, other, workers);
  assertNoneRuns(services, other, workers);
  const inBoth = workers.filter(({ nameKey }) => workerByName(services.db, moved.id, nameKey) !== null);
  assertNothingLost(services, moved, other, inBoth);
  for (const worker of inBoth) retireUnused(services, worker);
  moveMail();
  mergeProject(services.db, other.id, moved.id);
  recordEvent(services, "project.merged", { projectId: moved.id }, { project: other.slug });
}

interface MergeOptions {
  /** The folder is known to be the repository that was moved. */
  isSame: boolean;
  /** Gives the messages of the other project to the moved one. */
  moveMail: () => void;
}

/** Throws if the folder is the project of other workers and not known to be the repository that was moved: this may be a mistake. */
function assertNoWorkers({ slug, root }: Project, other: Project, workers: readonly Worker[]): void {
  if (workers.length === 0) return;
  const names = workers.map(({ name }) => name);
  const message = `This folder is already project ${other.slug}, with workers of its own (${names.join(", ")}), and not known to be the repository of ${slug} (${root}).`;
  throw new PerdureError("conflict", message, {
    hint: hintOf`go to where ${slug} was moved; or give the workers here up first: ${joinHints(
      names.map((name) => verb("retire", name)),
      "; ",
    )}`,
    details: { workers: names },
  });
}

function assertNoneRuns(services: LaunchServices, { slug }: Project, workers: readonly Worker[]): void {
  const live = workers.filter((worker) => {
    const run = holderOf(services.db, worker);
    return run !== null && services.runs.processesOf(run).length > 0;
  });
  if (live.length === 0) return;
  const names = live.map(({ name }) => name);
  throw new PerdureError("held", `This folder is already project ${slug}, and ${names.join(", ")} of it runs.`, {
    hint: joinHints(
      names.map((name) => verb("stop", name)),
      "; ",
    ),
  });
}

function assertNothingLost(services: LaunchServices, moved: Project, other: Project, inBoth: readonly Worker[]): void {
  const names = inBoth.filter((worker) => isUsed(services, worker)).map(({ name }) => name);
  const saved = savedOfProject(services.db, other.id).filter(({ nameKey }) =>
    savedByName(services.db, moved.id, nameKey),
  );
  if (names.length === 0 && saved.length === 0) return;
  const what = [
    ...names.map((name) => `worker ${name}, with a conversation or mail of its own`),
    ...saved.map(({ name }) => `saved session ${name}`),
  ];
  const ways = [
    ...names.map(
      (name) => hintOf`${verb("rename", name, "NEW-NAME")} keeps both, ${verb("retire", name)} gives this one up`,
    ),
    ...saved.map(({ name }) => verb("forget", name)),
  ];
  throw new PerdureError(
    "conflict",
    `This folder is already project ${other.slug}, which has the same names as ${moved.slug}: ${what.join("; ")}.`,
    {
      hint: hintOf`${joinHints(ways, "; ")}; then: ${verb("project", "move", moved.slug)}`,
      details: { workers: names },
    },
  );
}

function isUsed({ db }: LaunchServices, { id }: Worker): boolean {
  const said = conversationsOfWorker(db, id, SESSIONS_KEPT_PER_WORKER).some(
    ({ transcriptBytes, prompted }) => transcriptBytes !== null || prompted,
  );
  return said || hasMessages(db, id);
}

function retireUnused(services: LaunchServices, worker: Worker): void {
  const run = holderOf(services.db, worker);
  if (run) services.runs.recordEnd(run);
  const now = services.now();
  retireWorker(services.db, worker.id, now);
  clearDesired(services.db, worker.id);
  releaseConversations(services.db, worker.id, now);
  dropSavedOfWorker(services.db, worker.id);
  deleteTombstonesOfWorker(services.db, worker.id);
  recordEvent(services, "worker.retired", { projectId: worker.projectId, workerId: worker.id });
}

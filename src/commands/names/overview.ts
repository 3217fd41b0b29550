import { connectToDaemon, type Client } from "../../client/connect.ts";
import { UNREAD_COUNT_MAX } from "../../limits/index.ts";
import type { FoundProject } from "../../project/find.ts";
import { readFleet, type FleetWorker } from "../../project/fleet/read.ts";
import type { CallParams, ProjectRef } from "../../protocol/calls/index.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import type { MovedProject, ProjectSummary } from "../../protocol/records/admin.ts";
import { OPERATOR } from "../../protocol/records/mail.ts";
import { nameKey } from "../../protocol/names.ts";
import type { WorkerSummary } from "../../protocol/records/worker.ts";
import type { Command } from "../shared/command.ts";
import { findProjectHere, projectOfRun, projectRefHere } from "../shared/here.ts";
import { attentionItems, attentionText, type AttentionItem } from "../shared/table/attention-list.ts";
import { movedAttention } from "../shared/warnings/moved-note.ts";
import { suggestCommand, WATCH } from "./suggestion.ts";
import { hasKeys, isTerminal, printable, type Output } from "../shared/output.ts";
import { inOrderOfNames, workerTable } from "../shared/table/worker-table.ts";
import type { BoardSurroundings } from "./board.ts";

export const overview: Command = {
  summary: "show where you are and what needs you",
  usage: "",
  details: "Shows the project, its workers, what needs you and the command for it, and the next sensible command.",
  examples: ["perdure"],
  words: [0, 0],

  async run({ out }) {
    const found = findProjectHere();
    const params = { here: projectRefHere(found), project: projectOfRun(), all: false };
    const client = await connectToDaemon();
    try {
      const { items: workers, result } = await client.collect("ls", params);
      const view = await viewOf(client, found, workers, result.moved ?? []);
      const everywhere = isTerminal(1) && !out.json && view.isEmpty ? await listEverywhere(client, params) : [];
      if (hasKeys(out) && workers.length + everywhere.length > 0) {
        const { openBoard } = await import("./board.ts");
        const all = everywhere.length > 0;
        const surroundings = async (now: Client, listed: readonly WorkerSummary[]): Promise<BoardSurroundings> =>
          surroundingsOf(await viewOf(now, found, listed, []));
        const own = { root: found.root, surroundings };
        const elsewhere = { root: null, surroundings: everywhereOf };
        return await openBoard({ params: { ...params, all }, addresses: all, ...(all ? elsewhere : own) }, out);
      }
      const { project, saved, needs, unread, next } = view;
      out.result({ project, saved, workers, needs, unread, next: next.command }, () =>
        pageOf(view, everywhere.length > 0 ? everywhere : workers, everywhere.length > 0, out),
      );
      return 0;
    } finally {
      client.close();
    }
  },
};

/** Everything that is shown of a project beside its workers. */
interface ProjectView {
  project: ProjectSummary;
  saved: string | null;
  needs: AttentionItem[];
  unread: number;
  next: ReturnType<typeof suggestCommand>;
  /** Nothing of perdure is here: no worker, no fleet file, no project. */
  isEmpty: boolean;
}

async function viewOf(
  client: Client,
  found: FoundProject,
  workers: readonly WorkerSummary[],
  moved: readonly MovedProject[],
): Promise<ProjectView> {
  const here = projectRefHere(found);
  const project = await client.call("showProject", { here });
  const [saved, unread] = project.registered
    ? await Promise.all([activeSavedSession(client, here), unreadOperatorMail(client, here)])
    : [null, 0];
  const fleet = readFleetHere(found);
  const down = fleet.workers.filter(({ name, mode }) => mode === "tmux" && !isUp(name, workers));
  const needs = [
    ...moved.map(movedAttention),
    ...fleet.attention,
    ...attentionItems(workers),
    ...mailAttention(unread),
  ];
  const next = suggestCommand({
    attention: needs,
    workers,
    down: down.map(({ name }) => name),
    fleetSize: fleet.workers.length,
    isWorker: Boolean(process.env.PERDURE_RUN),
    leaving: isTerminal(1) ? (await import("../shared/terminal/leaving-keys.ts")).leavingKeys() : "Ctrl-b d",
  });
  const isEmpty = !project.registered && workers.length + fleet.workers.length + needs.length === 0;
  return { project, saved, needs, unread, next, isEmpty };
}

async function listEverywhere(client: Client, params: CallParams<"ls">): Promise<WorkerSummary[]> {
  return (await client.collect("ls", { ...params, all: true })).items;
}

/** Says that none of the workers that are listed is of this folder, and how to begin here. */
async function everywhereOf(_client: Client, workers: readonly WorkerSummary[]): Promise<BoardSurroundings> {
  const begin = "perdure init, or perdure up NAME -- COMMAND";
  const title = `all projects  none in this folder; to begin one here: ${begin}`;
  return Promise.resolve({ title, needs: attentionItems(workers, true), next: "" });
}

function surroundingsOf({ project, saved, needs, next }: ProjectView): BoardSurroundings {
  const session = saved === null ? "" : `  saved session ${saved}`;
  const why = next.why === "" ? "" : `   ${next.why}`;
  // The board is what that would open.
  const command = next.command === WATCH ? "" : `${next.command}${why}`;
  return { title: `${project.slug}  ${withTilde(project.root)}${session}`, needs, next: command };
}

function pageOf(
  { project, saved, needs, next }: ProjectView,
  workers: readonly WorkerSummary[],
  addresses: boolean,
  { paint, columns }: Output,
): string {
  const session = saved === null ? "" : paint.dim(`  saved session ${paint.cyan(saved)}`);
  return [
    `${paint.bold(project.slug)}  ${paint.dim(printable(withTilde(project.root)))}${session}`,
    workerTable(inOrderOfNames(workers), paint, { addresses, columns }),
    attentionText(needs, paint, columns),
    `${paint.dim("→")} ${paint.cyan(next.command)}${paint.dim(next.why && `   ${next.why}`)}`,
  ]
    .filter(Boolean)
    .join("\n\n");
}

/** Abbreviates the home folder to `~`. */
function withTilde(folder: string): string {
  const home = process.env.HOME;
  return home && folder.startsWith(`${home}/`) ? `~${folder.slice(home.length)}` : folder;
}

async function activeSavedSession(client: Client, here: ProjectRef): Promise<string | null> {
  const { items } = await client.collect("saved", { here, project: projectOfRun() });
  return items.find(({ active }) => active)?.name ?? null;
}

/** Counts the operator's unread mail, up to a bound; none inside a run, where the table shows the worker's own. */
async function unreadOperatorMail(client: Client, here: ProjectRef): Promise<number> {
  if (process.env.PERDURE_RUN) return 0;
  const mailbox = { as: null, nested: false, here, project: projectOfRun(), target: null, all: false };
  return (await client.collect("peekMail", { ...mailbox, limit: UNREAD_COUNT_MAX })).items.length;
}

function mailAttention(unread: number): AttentionItem[] {
  if (unread === 0) return [];
  const many = unread === UNREAD_COUNT_MAX ? ` or more` : "";
  return [
    { name: OPERATOR, why: `${unread}${many} unread message${unread === 1 ? "" : "s"}`, command: "perdure inbox" },
  ];
}

/** Reads the fleet; a mistake in its file becomes one more item that needs a person, so that the rest is still shown. */
function readFleetHere(found: FoundProject): { workers: FleetWorker[]; attention: AttentionItem[] } {
  try {
    return { workers: readFleet(found)?.workers ?? [], attention: [] };
  } catch (error) {
    if (!isPerdureError(error)) throw error;
    return { workers: [], attention: [{ name: "perdure.toml", why: error.message, command: "perdure doctor" }] };
  }
}

function isUp(name: string, workers: readonly WorkerSummary[]): boolean {
  return workers.some((worker) => nameKey(worker.name) === nameKey(name) && worker.run !== null);
}

import { resolve } from "node:path";
import { MOVE_PROJECT_WAIT_MS } from "../../limits/index.ts";
import { readProjectConfig } from "../../project/config/read.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { callDaemon, listFromDaemon } from "../shared/call.ts";
import type { Command, Invocation } from "../shared/command.ts";
import { findProjectHere, projectRefHere } from "../shared/here.ts";
import { printable } from "../shared/output.ts";
import { table } from "../shared/table/table.ts";
import { subcommand } from "../shared/arguments/subcommand.ts";

const ACTIONS: Readonly<Record<string, (invocation: Invocation) => Promise<void>>> = { show: showHere, ls: list, move };

export const project: Command = {
  summary: "show this folder's project, list all, or find one that moved",
  usage: "[show | ls | move OLD]",
  details: [
    "A repository with all its worktrees is one project; outside git a folder is. After you moved a repository, run",
    "`project move OLD` in its new place: names, history, mail and folders come along, and conversations that their vendor",
    "looks for by folder are carried there as copies. Workers that the new place got in the meantime stay; a name that is",
    "in use in both is refused, with what to do.",
  ].join("\n"),
  subcommands: {
    show: "show the project of this folder; the same without a command",
    ls: "list all projects",
    "move OLD": "continue here the project that was at the path OLD, or has the slug OLD",
  },
  examples: ["perdure project", "perdure project ls", "perdure project move api", "perdure project move ~/old/api"],
  completes: [["show", "ls", "move"], "folder"],
  words: [0, 2],

  async run(invocation) {
    const word = invocation.words[0] ?? "show";
    const action = subcommand("project", ACTIONS, word);
    if (word !== "move" && invocation.words.length > 1) {
      throw new PerdureError("usage", `project ${word}: unexpected argument ${JSON.stringify(invocation.words[1])}.`, {
        hint: `perdure project ${word}`,
      });
    }
    await action(invocation);
  },
};

async function showHere({ out }: Invocation): Promise<void> {
  const found = findProjectHere();
  readProjectConfig(found); // the file may ask for another slug, so a file that cannot be read is an error here
  const result = await callDaemon("showProject", { here: projectRefHere(found) });
  const state = result.registered
    ? `${result.workers} ${result.workers === 1 ? "worker" : "workers"}`
    : "no workers yet";
  out.result(result, () => printable(`${result.slug}  ${result.root}  (${state})`));
}

async function list({ out }: Invocation): Promise<void> {
  const { items: projects } = await listFromDaemon("listProjects", {});
  const rows = projects.map(({ slug, workers, root }) => [slug, String(workers), root]);
  out.result({ projects }, () => (rows.length > 0 ? table(["PROJECT", "WORKERS", "ROOT"], rows, out.paint.dim) : ""));
  if (rows.length === 0)
    out.note("No projects yet. A folder becomes one with its first worker: perdure run NAME -- COMMAND");
}

async function move({ words, out }: Invocation): Promise<void> {
  const old = words[1];
  if (!old)
    throw new PerdureError("usage", "project move: OLD is missing.", {
      hint: "perdure project move OLD, its old slug or path",
    });
  const result = await callDaemon(
    "moveProject",
    {
      here: projectRefHere(),
      old: old.includes("/") ? resolve(old) : old,
    },
    MOVE_PROJECT_WAIT_MS,
  );
  out.result(result, () => printable(`${result.slug} is now at ${result.root}`));
  if (result.carried.length > 0)
    out.note(`Carried to the new folder: the conversation of ${result.carried.join(", ")}`);
  for (const { name, why } of result.left) out.note(printable(`Not carried: the conversation of ${name}: ${why}`));
}

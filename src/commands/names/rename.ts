import { join } from "node:path";
import { CONFIG_FILE, fleetRoot, type FoundProject } from "../../project/find.ts";
import { checkName, nameKey, parseAddress } from "../../protocol/names.ts";
import { callDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { declaredWorkersHere, findProjectHere, projectRefHere, targetOf } from "../shared/here.ts";
import { printable } from "../shared/output.ts";

export const rename: Command = {
  summary: "give a worker another name; the old name refers to the new one",
  usage: "OLD NEW",
  details: [
    "History, conversations and mail stay with the worker. A running program keeps its run and its token; its environment",
    "has the old name until it is restarted. Its table in perdure.toml gets the name, too, if that file is trusted as it is and",
    "nothing else changes by it, a worktree for one; else it is said what to edit.",
  ].join("\n"),
  examples: ["perdure rename coder builder", "perdure rename api/coder builder"],
  completes: ["worker"],
  words: [2, 2],

  async run({ words: [old = "", to = ""], out }) {
    const found = findProjectHere();
    const target = targetOf(old, projectRefHere(found));
    const result = await callDaemon("rename", { target, to: checkName(to) });
    out.result(result, () => `${result.from} is now ${result.address}`);
    const note = await fleetFileNote(found, result, to);
    if (note !== null) out.note(printable(note));
  },
};

/** Returns what is to be done about the fleet file, if that still declares the old name; null if it does not. */
async function fleetFileNote(found: FoundProject, { from }: { from: string }, to: string): Promise<string | null> {
  const { project, name: old } = parseAddress(from);
  const declared = declaredWorkersHere(found).find(({ name }) => nameKey(name) === nameKey(old));
  if (declared === undefined) return null;
  if ((await callDaemon("showProject", { here: projectRefHere(found) })).slug !== project) return null;
  const file = join(fleetRoot(found), CONFIG_FILE);
  const entry = `[workers.${declared.entry}]`;
  const back = `perdure rename ${to} ${old}`;
  const { renameEntry } = await import("./rename-entry.ts");
  if (declared.entry === old && (await renameEntry(found, project, old, to)))
    return `${file} has it as [workers.${to}] now`;
  return declared.entry === old
    ? `${file} still calls it ${old}: rename ${entry} to [workers.${to}] there, or \`perdure up\` refuses ${old}. Back: ${back}`
    : `${file} still makes ${old} of ${entry}, by its count: \`perdure up\` refuses ${old} until its name is back: ${back}`;
}

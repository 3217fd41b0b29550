import { fleetRoot, type FoundProject } from "../../project/find.ts";
import { worktreePath } from "../../project/worktree/paths.ts";
import { nameKey } from "../../protocol/names.ts";
import { isFolder } from "../../state/files.ts";
import { shellWords } from "../../util/shell-quote.ts";
import { callDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { declaredWorkersHere, findProjectHere, projectOfRun, projectRefHere, targetOf } from "../shared/here.ts";
import { printable } from "../shared/output.ts";

export const retire: Command = {
  summary: "end a worker for good and free its name",
  usage: "NAME",
  details: [
    "Refused while the worker runs. A later worker of that name inherits nothing from this one: its mail that nobody read",
    "is dead, and its worktree stays for you to remove. The old name of a renamed worker is freed the same way.",
  ].join("\n"),
  examples: ["perdure retire coder"],
  completes: ["worker"],
  words: [1, 1],

  async run({ words: [word = ""], out }) {
    const found = findProjectHere();
    const result = await callDaemon("retire", { target: targetOf(word, projectRefHere(found)) });
    const name = result.address.slice(result.address.indexOf("/") + 1);
    const isHere = !word.includes("/") && projectOfRun() === null;
    const left = isHere ? leftBehind(found, name) : { worktree: null, entry: null };
    out.result({ ...result, ...left }, () => `${result.address} is retired; its name is free`);
    const dead = result.dead ?? 0;
    if (dead > 0) {
      out.note(
        `  ${dead === 1 ? "1 open message to it is" : `${dead} open messages to it are`} dead now: perdure mail --state dead`,
      );
    }
    if (left.worktree !== null) {
      const remove = shellWords(["git", "worktree", "remove", left.worktree]);
      out.note(printable(`  its worktree and branch stay; to remove the worktree: ${remove}`));
    }
    if (left.entry !== null) {
      out.note(
        `  perdure.toml still declares it, so \`perdure up\` makes a new ${name}: remove [workers.${left.entry}]`,
      );
    }
  },
};

/** Returns what of a worker is in files, which nothing but their owner removes. */
function leftBehind(found: FoundProject, name: string): { worktree: string | null; entry: string | null } {
  const worktree = worktreePath(fleetRoot(found), name);
  const declared = declaredWorkersHere(found).find((worker) => nameKey(worker.name) === nameKey(name));
  return { worktree: isFolder(worktree) ? worktree : null, entry: declared?.entry ?? null };
}

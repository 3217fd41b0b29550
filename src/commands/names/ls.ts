import type { WorkerSummary } from "../../protocol/records/worker.ts";
import { listFromDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { doingTable, withBranches } from "../shared/table/doing-table.ts";
import { findProjectHere, projectOfRun, projectRefHere } from "../shared/here.ts";
import { movedNote } from "../shared/warnings/moved-note.ts";
import { isTerminal, type Output } from "../shared/output.ts";
import { inOrderOfNames, workerTable } from "../shared/table/worker-table.ts";

export const ls: Command = {
  summary: "list the workers of this project and their state",
  usage: "[options]",
  details: [
    "At a terminal it says what each worker is doing: what it waits for or how it ended, else what was said last, the",
    "branch and the folder. With --long a conversation is marked ✓ when the vendor's own process has shown it, ? until then,",
    "✗ when it showed another. Outside of every project all workers are listed. --json has everything.",
  ].join("\n"),
  examples: ["perdure ls", "perdure ls -w", "perdure ls --all --json"],
  options: {
    all: { short: "a", about: "the workers of every project" },
    long: { short: "l", about: "add generation, conversation, pid, run and what its user calls the conversation" },
    watch: {
      short: "w",
      about:
        "keep the list current, with keys (? lists them); with --json or into a pipe, a line of JSON for each change",
    },
  },
  words: [0, 0],

  async run({ values, out }) {
    const found = findProjectHere();
    const all = values.all === true;
    const options = { addresses: all, long: values.long === true };
    const params = { here: projectRefHere(found), project: projectOfRun(), all };
    if (values.watch === true) {
      return (await import("./watch.ts")).watchWorkers(params, { ...options, root: found.root }, out);
    }
    const { items: workers, result } = await listFromDaemon("ls", params);
    const isNowhere = workers.length === 0 && !all && result.moved === undefined && isTerminal(1) && !out.json;
    // Whoever looks from outside of every project wants to see them all.
    const others = isNowhere ? (await listFromDaemon("ls", { ...params, all: true })).items : [];
    const shown = others.length > 0 ? { workers: others, addresses: true } : { workers, addresses: all };
    out.result({ workers: out.json ? withBranches(workers) : workers }, () =>
      listText(shown.workers, { ...options, addresses: shown.addresses, root: found.root }, out),
    );
    for (const project of result.moved ?? []) out.note(movedNote(project));
    if (others.length > 0) out.note("No workers in this project; these are all there are.");
    else if (workers.length === 0 && result.moved === undefined) {
      out.note(
        "No workers here yet. A fleet: perdure up NAME -- COMMAND. In this terminal: perdure run NAME -- COMMAND",
      );
    }
    return 0;
  },
};

/** Formats the list: at a terminal what each worker is doing; elsewhere, and with --long, whatever tells one run from another. */
function listText(
  workers: readonly WorkerSummary[],
  { addresses, long, root }: { addresses: boolean; long: boolean; root: string },
  { paint, columns }: Output,
): string {
  const sorted = inOrderOfNames(workers);
  if (long || columns === Infinity) return workerTable(sorted, paint, { addresses, long, columns }) ?? "";
  return doingTable(sorted, paint, { addresses, columns, root: addresses ? null : root }) ?? "";
}

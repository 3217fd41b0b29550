import { listFromDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { projectOfRun, projectRefHere } from "../shared/here.ts";
import { movedNote } from "../shared/moved-note.ts";
import { inOrderOfNames, workerTable } from "../shared/worker-table.ts";

export const ls: Command = {
  summary: "list the workers of this project and their state",
  usage: "[options]",
  details: [
    "A conversation is marked ✓ when the vendor's own process has shown it, ? until then, ✗ when it showed another.",
    "--json has everything.",
  ].join("\n"),
  examples: ["perdure ls", "perdure ls -w", "perdure ls --all --json"],
  options: {
    all: { short: "a", about: "the workers of every project" },
    long: { short: "l", about: "add pid, run and what its user calls the conversation" },
    watch: {
      short: "w",
      about: "keep the table current until Ctrl-C; with --json or into a pipe, a line of JSON for each change",
    },
  },
  words: [0, 0],

  async run({ values, out }) {
    const all = values.all === true;
    const options = { addresses: all, long: values.long === true };
    const params = { here: projectRefHere(), project: projectOfRun(), all };
    if (values.watch === true) return (await import("./watch.ts")).watchWorkers(params, options, out);
    const { items: workers, result } = await listFromDaemon("ls", params);
    out.result(
      { workers },
      () => workerTable(inOrderOfNames(workers), out.paint, { ...options, columns: out.columns }) ?? "",
    );
    for (const project of result.moved ?? []) out.note(movedNote(project));
    if (workers.length === 0 && result.moved === undefined)
      out.note(
        "No workers here yet. For a fleet: perdure init && perdure up. For one agent: perdure run NAME -- COMMAND",
      );
  },
};

import { listFromDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { projectOfRun, projectRefHere } from "../shared/here.ts";
import { watchWorkers } from "./watch.ts";
import { byName, workerTable } from "../shared/worker-table.ts";

export const ls: Command = {
  summary: "the workers of this project, and their state",
  usage: "[--all] [--long] [--watch]",
  details: [
    "A conversation is marked ✓ when the vendor's own process has shown it, ? until then, ✗ when it showed another.",
    "--watch goes on, until Ctrl-C; with --json or into a pipe it prints a document, on one line, at every change.",
    "--long adds pid and run. --json has everything.",
  ].join("\n"),
  examples: ["perdure ls", "perdure ls -w", "perdure ls --all --json"],
  options: {
    all: { type: "boolean", short: "a" },
    long: { type: "boolean", short: "l" },
    watch: { type: "boolean", short: "w" },
  },
  words: [0, 0],

  async run({ values, out }) {
    const all = values.all === true;
    const form = { addresses: all, long: values.long === true };
    const where = { here: projectRefHere(), project: projectOfRun(), all };
    if (values.watch === true) return watchWorkers(where, form, out);
    const { items: workers } = await listFromDaemon("ls", where);
    out.result(
      { workers },
      () => workerTable(workers.toSorted(byName), out.paint, { ...form, columns: out.columns }) ?? "",
    );
    if (workers.length === 0)
      out.note("No workers here yet. A fleet: perdure init, perdure up. One alone: perdure run NAME -- COMMAND");
  },
};

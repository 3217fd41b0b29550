import { listFromDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { projectOfRun, projectRefHere } from "../shared/here.ts";
import { age, shortId, table, type Cell } from "../shared/table/table.ts";

export const saved: Command = {
  summary: "list the saved sessions of this project",
  usage: "",
  details:
    "The active one is kept current, from conversation to conversation; the others are snapshots, and stay as they were.",
  examples: ["perdure saved", "perdure saved --json"],
  words: [0, 0],

  async run({ out }) {
    const { items } = await listFromDaemon("saved", { here: projectRefHere(), project: projectOfRun() });
    out.result({ saved: items }, () => {
      const rows = items.flatMap(({ name, active, updatedAt, workers }) =>
        workers.map((worker, at): (string | Cell)[] => [
          { text: at === 0 ? name : "", paint: out.paint.bold },
          at === 0 && active ? "active" : "",
          at === 0 ? `${age(updatedAt)} ago` : "",
          worker.name,
          worker.vendor,
          { text: shortId(worker.sessionId), paint: out.paint.dim },
        ]),
      );
      return rows.length === 0
        ? ""
        : table(["SAVED", "", "CHANGED", "WORKER", "VENDOR", "CONVERSATION"], rows, out.paint.dim);
    });
    if (items.length === 0) out.note("Nothing is saved here yet: perdure save NAME");
  },
};

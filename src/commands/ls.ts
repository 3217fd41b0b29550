import type { WorkerSummary } from "../protocol/results.ts";
import { askList } from "./call.ts";
import type { Command } from "./command.ts";
import { ownProject, placeHere } from "./here.ts";
import type { Paint } from "./output.ts";
import { age, shortId, table, type Cell } from "./table.ts";

export const ls: Command = {
  summary: "the workers of this project, and their state",
  usage: "[--all]",
  examples: ["perdure ls", "perdure ls --all", "perdure ls --json"],
  options: { all: { type: "boolean", short: "a" } },
  words: [0, 0],

  async run({ values, out }) {
    const all = values.all === true;
    const { items: workers } = await askList("ls", { here: placeHere(), project: ownProject(), all });
    out.result({ workers }, () => workerTable(workers, all, out.paint) ?? "");
    if (workers.length === 0) out.note("No workers here yet. Start one: perdure run NAME -- COMMAND");
  },
};

/** Null when there is nothing to show. */
export function workerTable(workers: WorkerSummary[], addresses: boolean, paint: Paint): string | null {
  if (workers.length === 0) return null;
  const rows = workers.map((worker): (string | Cell)[] => [
    { text: addresses ? worker.address : worker.name, paint: paint.bold },
    { text: worker.state, paint: statePaint(worker, paint) },
    worker.run ? age(worker.run.startedAt) : "-",
    vendorCell(worker, paint),
    conversation(worker, paint),
    String(worker.generation),
    worker.run ? String(worker.run.pid) : "-",
    worker.run?.id ?? "-",
    { text: worker.unread === 0 ? "-" : String(worker.unread), paint: worker.unread === 0 ? paint.dim : paint.cyan },
    { text: worker.attention ?? lastEnd(worker), paint: worker.attention ? paint.yellow : paint.dim },
  ]);
  return table(["NAME", "STATE", "UP", "VENDOR", "CONVERSATION", "GEN", "PID", "RUN", "MAIL", ""], rows, paint.dim);
}

function vendorCell({ vendor, unproved }: WorkerSummary, paint: Paint): Cell {
  return unproved === null ? { text: vendor ?? "-" } : { text: `${vendor} (unproved)`, paint: paint.yellow };
}

/** With a question mark until the vendor has shown it, and a cross if it showed another one. */
function conversation({ session }: WorkerSummary, paint: Paint): Cell {
  if (session === null) return { text: "-", paint: paint.dim };
  const mark = session.proved === "pending" ? " ?" : session.proved ? "" : " ✗";
  return { text: `${shortId(session.id)}${mark}`, paint: session.proved === false ? paint.red : paint.dim };
}

function lastEnd({ lastEnd: end }: WorkerSummary): string {
  if (end === null) return "";
  const exit = end.exit === null || end.exit > 128 ? "" : ` ${end.exit}`;
  return `${end.reason}${exit}, ${age(end.at)} ago`;
}

function statePaint(worker: WorkerSummary, paint: Paint): (text: string) => string {
  if (worker.attention !== null || worker.state === "displaced") return paint.yellow;
  return worker.run === null ? paint.dim : paint.green;
}

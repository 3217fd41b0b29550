import type { WorkerState, WorkerSummary } from "../../protocol/records/worker.ts";
import { printable, type Paint } from "./output.ts";
import { cut } from "./table.ts";
import { workerNote } from "./worker-table.ts";

/** Something that waits for a person, and what to type. */
export interface AttentionItem {
  /** A worker, or `operator` for mail. */
  name: string;
  why: string;
  command: string;
}

/** Who cannot go on alone. What only takes a while (backing off, starting) is not among them. */
export function attentionItems(workers: readonly WorkerSummary[], addresses = false): AttentionItem[] {
  return workers.flatMap((worker) => {
    const verb = VERBS[worker.state] ?? (worker.run !== null && worker.attention !== null ? "show" : undefined);
    if (verb === undefined) return [];
    // Another terminal's cannot be gone to.
    const reachable = verb === "attach" && worker.mode !== "tmux" ? "show" : verb;
    const why = worker.run === null ? `${worker.state}: ${workerNote(worker)}` : workerNote(worker);
    const name = addresses ? worker.address : worker.name;
    return { name, why, command: `perdure ${reachable} ${name}` };
  });
}

const VERBS: Partial<Record<WorkerState, string>> = {
  blocked: "attach",
  "crash-looping": "logs",
  "on-hold": "up",
  unresumable: "drill",
};

/** One line each; empty when nobody needs anything. */
export function attentionText(needs: readonly AttentionItem[], paint: Paint, columns: number): string {
  if (needs.length === 0) return "";
  const width = Math.max(...needs.map(({ name }) => name.length));
  const commands = Math.max(...needs.map(({ command }) => command.length));
  const lines = needs.map(({ name, why, command }) => {
    const reason = cut(printable(why), columns - width - commands - 6);
    return `  ${paint.bold(name.padEnd(width))}  ${paint.cyan(command.padEnd(commands))}  ${paint.yellow(reason)}`;
  });
  return [paint.yellow("Needs you"), ...lines].join("\n");
}

import { commandText } from "../../../protocol/hint.ts";
import { commandForNeed } from "../../../protocol/records/needs.ts";
import type { WorkerSummary } from "../../../protocol/records/worker.ts";
import { cutToColumns } from "./columns.ts";
import { printable, type Paint } from "../output.ts";
import { workerNote } from "./worker-table.ts";

/** Something that needs a person, and the command for it. */
export interface AttentionItem {
  /** A worker's name, `operator` for mail, or `perdure.toml` for a mistake in it. */
  name: string;
  why: string;
  command: string;
}

/** Lists the workers that need a person. Those that only need time (backing off, starting) are left out. */
export function attentionItems(workers: readonly WorkerSummary[], addresses = false): AttentionItem[] {
  return workers.flatMap((worker) => {
    const name = addresses ? worker.address : worker.name;
    const command = commandForNeed(worker, name);
    if (command === null) return [];
    const why = worker.run === null ? `${worker.state}: ${workerNote(worker)}` : workerNote(worker);
    return { name, why, command: commandText(command) };
  });
}

/** Formats one line per item; empty when nothing needs a person. */
export function attentionText(items: readonly AttentionItem[], paint: Paint, columns: number): string {
  if (items.length === 0) return "";
  const width = Math.max(...items.map(({ name }) => name.length));
  const commands = Math.max(...items.map(({ command }) => command.length));
  const lines = items.map(({ name, why, command }) => {
    const reason = cutToColumns(printable(why), columns - width - commands - 6);
    return `  ${paint.bold(name.padEnd(width))}  ${paint.cyan(command.padEnd(commands))}  ${paint.yellow(reason)}`;
  });
  return [paint.yellow("Needs you"), ...lines].join("\n");
}

/** Says in a terminal's title, which is seen when its window is not, how many workers need somebody. */
export function attentionTitle(workers: readonly WorkerSummary[]): string {
  const names = attentionItems(workers).map(({ name }) => name);
  const verb = names.length === 1 ? "needs" : "need";
  return names.length === 0 ? "perdure" : `◆ ${names.length} ${verb} you: ${names.join(" ")}`;
}

import { commandText, hintText, type HintCommand } from "../../../protocol/hint.ts";
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
    const known = commandForNeed(worker, name);
    if (known === null) return [];
    const { command, more } = stepsOf(worker, known);
    // Without the way out, which has a place of its own.
    const why = workerNote({ ...worker, next: [] }) + more;
    return { name, why: worker.run === null ? `${worker.state}: ${why}` : why, command: commandText(command) };
  });
}

/** Returns the first command of the way out, and what is to be done after it, in words. */
function stepsOf({ next = [] }: WorkerSummary, known: HintCommand): { command: HintCommand; more: string } {
  const at = next.findIndex((part) => typeof part !== "string");
  const command = next[at];
  if (command === undefined || typeof command === "string") {
    const words = hintText(next);
    return { command: known, more: words === null ? "" : ` (${words})` };
  }
  const before = hintText(next.slice(0, at)) ?? "";
  const after = (hintText(next.slice(at + 1)) ?? "").replace(/^[,;:]? (?:then )?/, "");
  const more = [before.replace(/[ ,;:]+$/, ""), after].filter(Boolean).join("; ");
  return { command, more: more === "" ? "" : ` (${more})` };
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

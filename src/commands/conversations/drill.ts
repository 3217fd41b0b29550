import { connectToDaemon } from "../../client/connect.ts";
import { shownHint } from "../../protocol/hint.ts";
import type { DrillResult } from "../../protocol/records/conversation.ts";
import { exitCodeOf } from "../../protocol/errors.ts";
import type { Command } from "../shared/command.ts";
import { attentionItems } from "../shared/table/attention-list.ts";
import { noteMoved } from "../shared/warnings/moved-note.ts";
import { projectOfRun, projectRefHere, targetOf } from "../shared/here.ts";
import { printable, type Paint } from "../shared/output.ts";

export const drill: Command = {
  summary: "check that every worker could be resumed, without starting any",
  usage: "[NAME…] [--all]",
  details: [
    "Checks each worker's program and version, folder, recorded environment, conversation (read and hashed from beginning",
    "to end), that no other process has it open, and perdure's copy. It decides as a start would, and changes nothing.",
    "Exit 5 if a worker could not be resumed, with the reason and what to do. A copy that is missing or damaged is only",
    "a warning, because the next start makes another one. Whether a vendor still accepts the login only a start can tell.",
  ].join("\n"),
  examples: ["perdure drill", "perdure drill coder", "perdure drill --all --json"],
  options: { all: { short: "a", about: "the workers of every project" } },
  completes: ["worker"],
  words: [0, 1000],

  async run({ words, values, out }) {
    const here = projectRefHere();
    const targets = words.map((word) => targetOf(word, here));
    const client = await connectToDaemon();
    const params = { here, project: projectOfRun(), all: values.all === true, targets };
    const { items, result } = await client.collect("drill", params);
    const { items: listed } = await client.collect("ls", { here, project: params.project, all: params.all });
    client.close();
    const drilled = new Set(items.map(({ address }) => address));
    const needing = attentionItems(
      listed.filter(({ address, state }) => drilled.has(address) && state !== "unresumable"),
      true,
    );
    const width = Math.max(0, ...items.map(({ address }) => address.length));
    out.result({ workers: items }, () => items.map((each) => lines(each, width, out.paint)).join("\n"));
    if (items.length === 0) {
      out.note("No workers here yet. Start one: perdure run NAME -- COMMAND");
      await noteMoved(here, out);
    } else
      out.note(
        result.broken === 0
          ? "All workers could be resumed: their programs, folders and conversations are there. Logins were not checked."
          : `${result.broken} of ${result.count} could not be resumed.`,
      );
    for (const { name, why, command } of needing)
      out.note(printable(`${name} needs you all the same: ${why} → ${command}`));
    return result.broken === 0 ? 0 : exitCodeOf("refused");
  },
};

function lines({ address, ok, checks, unproved, vendor }: DrillResult, width: number, paint: Paint): string {
  const mark = ok ? paint.green("ok  ") : paint.red("NO  ");
  const what = checks.find(({ check }) => check === "conversation")?.detail ?? startWithout(vendor);
  const note = unproved === null ? "" : paint.yellow(`  (unproved: ${unproved})`);
  const head = `${mark}  ${address.padEnd(width)}  ${ok ? paint.dim(printable(what)) + note : ""}`.trimEnd();
  const broken = checks.filter((check) => !check.ok);
  const warnings = checks.filter(({ warning }) => warning);
  return [
    head,
    ...warnings.map(({ check, detail }) => `      ${paint.yellow(printable(`${check}: ${detail}`))}`),
    ...broken.flatMap(({ check, detail, ...item }) => [
      `      ${printable(`${check}: ${detail}`)}`,
      `      ${paint.dim("→")} ${printable(shownHint(item) ?? "")}`,
    ]),
  ].join("\n");
}

/** Says how a worker begins that has no conversation: an agent's first start makes one. */
function startWithout(vendor: string | null): string {
  return vendor === null ? "starts from scratch each time" : "begins a new conversation";
}

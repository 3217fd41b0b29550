import { PerdureError } from "../../protocol/errors.ts";
import { nearest } from "../../protocol/names.ts";
import { own } from "../../util/own.ts";
import type { Command, VerbGroup, VerbTable } from "../shared/command.ts";

type HelpResult = [value: object, text: () => string];

/** Returns the help of one verb: the value for `--json` and the text for people. */
export async function helpPage(verbs: VerbTable, verb: string): Promise<HelpResult> {
  const load = own(verbs, verb);
  if (!load) {
    const near = nearest(verb, Object.keys(verbs).filter(Boolean));
    throw new PerdureError("usage", `There is no verb ${JSON.stringify(verb)}.`, {
      hint: near.length > 0 ? `did you mean ${near.join(" or ")}?` : "perdure help",
    });
  }
  const command = await load();
  return [{ verb, ...jsonForm(command) }, () => page(verb, command)];
}

/** Returns the list of all verbs, group by group: the value for `--json` and the text for people. */
export async function helpOverview(groups: readonly VerbGroup[]): Promise<HelpResult> {
  const loaded = await Promise.all(
    groups.map(async ({ title, verbs }) => ({
      title,
      commands: await Promise.all(Object.entries(verbs).map(async ([verb, load]) => ({ verb, command: await load() }))),
    })),
  );
  const all = loaded.flatMap(({ commands }) => commands);
  const width = Math.max(...all.map(({ verb }) => verb.length));
  const sections = loaded.flatMap(({ title, commands }) => [
    "",
    `${title}:`,
    ...commands.map(({ verb, command }) => `  ${verb.padEnd(width)}  ${command.summary}`),
  ]);
  const text = [
    "perdure: a worker's name outlives its process",
    "",
    "  perdure                    show where you are and what needs you",
    "  perdure run NAME -- CMD    start a program under a name",
    "  perdure VERB --help        show one verb, with examples",
    ...sections,
    "",
    "Every verb takes --json. NO_COLOR is respected. State: $PERDURE_HOME, else ~/.local/state/perdure.",
  ].join("\n");
  return [{ verbs: all.map(({ verb, command }) => ({ verb, ...jsonForm(command) })) }, () => text];
}

function jsonForm({ summary, usage, examples }: Command): object {
  return { summary, usage, examples };
}

function page(verb: string, command: Command): string {
  return [
    command.summary,
    "",
    `  perdure ${verb} ${command.usage}`.trimEnd(),
    ...(command.details ? ["", command.details] : []),
    "",
    "Examples:",
    ...command.examples.map((example) => `  ${example}`),
  ].join("\n");
}

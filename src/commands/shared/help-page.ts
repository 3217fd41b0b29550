import type { Command } from "./command.ts";

/** The parts of a command that are data, and that the help tells. */
export type VerbHelp = Pick<Command, "summary" | "usage" | "examples" | "details" | "options">;

/** The help of every verb, by group: `dist/help.json`, written when the bundles are built, so that no verb is loaded to list it. */
export interface HelpTable {
  groups: { title: string; verbs: ({ verb: string } & VerbHelp)[] }[];
}

type HelpResult = [value: object, text: () => string];

/** Returns the help of one verb: the value for `--json` and the text for people. */
export function verbHelp(verb: string, help: VerbHelp): HelpResult {
  return [{ verb, ...jsonForm(help) }, () => page(verb, help)];
}

/** Returns the list of all verbs, group by group: the value for `--json` and the text for people. */
export function helpOverview({ groups }: HelpTable): HelpResult {
  const all = groups.flatMap(({ verbs }) => verbs);
  const width = Math.max(...all.map(({ verb }) => verb.length));
  const sections = groups.flatMap(({ title, verbs }) => [
    "",
    `${title}:`,
    ...verbs.map(({ verb, summary }) => `  ${verb.padEnd(width)}  ${summary}`),
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
  return [{ verbs: all.map(({ verb, ...help }) => ({ verb, ...jsonForm(help) })) }, () => text];
}

function jsonForm({ summary, usage, examples }: VerbHelp): object {
  return { summary, usage, examples };
}

function page(verb: string, { summary, usage, details, examples }: VerbHelp): string {
  return [
    summary,
    "",
    `  perdure ${verb} ${usage}`.trimEnd(),
    ...(details ? ["", details] : []),
    "",
    "Examples:",
    ...examples.map((example) => `  ${example}`),
  ].join("\n");
}

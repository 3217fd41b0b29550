import { HELP_COLUMNS } from "../../../limits/index.ts";
import type { Command, VerbOption } from "../command.ts";

/** The parts of a command that are data, and that the help tells. */
export type VerbHelp = Omit<Command, "run" | "aliases" | "words"> & {
  /** As in the command; null where there is no greatest number, because JSON knows no infinity. */
  words: readonly [least: number, most: number | null];
};

/** The help of every verb, by group: `dist/help.json`, written when the bundles are built, so that no verb is loaded to list it. */
export interface HelpTable {
  groups: { title: string; verbs: ({ verb: string } & VerbHelp)[] }[];
}

/** One page by task of the documentation, as `perdure help TOPIC` shows it. */
export interface HelpTopic {
  topic: string;
  title: string;
  text: string;
}

type HelpResult = [value: object, text: () => string];

/** Returns the help of one verb: the value for `--json` and the text for people. */
export function verbHelp(verb: string, help: VerbHelp): HelpResult {
  return [{ verb, ...jsonForm(help) }, () => page(verb, help)];
}

/** Returns the list of all verbs, those of every day with what they do, and of the topics: the value for `--json` and the text for people. */
export function helpOverview({ groups }: HelpTable, topics: readonly HelpTopic[]): HelpResult {
  const all = groups.flatMap(({ verbs }) => verbs);
  const [everyDay, ...others] = groups;
  const daily = everyDay?.verbs ?? [];
  const width = Math.max(...daily.map(({ verb }) => verb.length));
  const sections = [
    "",
    `${everyDay?.title}:`,
    ...daily.map(({ verb, summary }) => `  ${verb.padEnd(width)}  ${summary}`),
    ...others.flatMap(({ title, verbs }) => ["", `${title}:`, ...namesOf(verbs.map(({ verb }) => verb))]),
  ];
  const text = [
    "perdure: coding agents that come back, each under its name, in its conversation",
    "",
    "  perdure                    show where you are and what needs you",
    "  perdure run NAME -- CMD    start a program under a name",
    "  perdure VERB --help        show one verb, with its options and examples",
    ...sections,
    "",
    "Topics (perdure help TOPIC):",
    ...namesOf(topics.map(({ topic }) => topic)),
    "",
    "Every verb takes --json. NO_COLOR is respected.",
    "State: $PERDURE_HOME, else ~/.local/state/perdure.",
  ].join("\n");
  return [
    {
      verbs: all.map(({ verb, ...help }) => ({ verb, ...jsonForm(help) })),
      topics: topics.map(({ topic, title }) => ({ topic, title })),
    },
    () => text,
  ];
}

function namesOf(names: readonly string[]): string[] {
  return wrapped(names.join(", "), HELP_COLUMNS - 2).map((line) => `  ${line}`);
}

function jsonForm({ summary, usage, details, subcommands, examples, options = {} }: VerbHelp): object {
  return {
    summary,
    usage,
    examples,
    details: details === undefined ? null : paragraphs(details).join("\n\n"),
    subcommands: Object.entries(subcommands ?? {}).map(([form, about]) => ({ form, about })),
    options: Object.entries(options).map(([name, { short = null, value = null, multiple = false, about }]) => {
      return { name: `--${name}`, short: short && `-${short}`, value, multiple, about };
    }),
  };
}

function page(verb: string, { summary, usage, details, subcommands = {}, examples, options = {} }: VerbHelp): string {
  const sections = [
    summary,
    `  ${`perdure ${verb} ${usage}`.trimEnd()}`,
    ...(details === undefined ? [] : paragraphs(details).map((text) => wrapped(text, HELP_COLUMNS).join("\n"))),
    twoColumns("Commands:", Object.entries(subcommands)),
    twoColumns("Options:", [
      ...Object.entries(options).map(([name, option]): Row => [optionForm(name, option), aboutOption(option)]),
      ["    --json", "print one JSON document"],
    ]),
    ["Examples:", ...examples.map((example) => `  ${example}`)].join("\n"),
  ];
  return sections.filter((section) => section !== "").join("\n\n");
}

/** Returns the form in which an option is typed: `-n, --limit N`, with room for the letter where it has none. */
function optionForm(name: string, { short, value }: VerbOption): string {
  return `${short === undefined ? "    " : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;
}

/** Returns what an option does, and whether it may be repeated. */
function aboutOption({ about, multiple }: VerbOption): string {
  return multiple ? `${about}; can be repeated` : about;
}

/** Splits a text at its empty lines, and takes out the line breaks in between, which are the source's. */
function paragraphs(text: string): string[] {
  return text.split("\n\n").map((each) => each.replaceAll("\n", " "));
}

type Row = [left: string, right: string];

/** The left column takes what its entries take, but for long ones, which have a line to themselves. */
const LEFT_COLUMNS = 28;

function twoColumns(title: string, rows: readonly Row[]): string {
  if (rows.length === 0) return "";
  const width = Math.max(0, ...rows.map(([left]) => left.length).filter((length) => length <= LEFT_COLUMNS));
  const lines = rows.flatMap(([left, right]) => {
    const [first = "", ...more] = wrapped(right, HELP_COLUMNS - width - 4);
    const indented = more.map((line) => `${" ".repeat(width + 4)}${line}`);
    if (left.length > width) return [`  ${left}`, `${" ".repeat(width + 4)}${first}`, ...indented];
    return [`  ${left.padEnd(width)}  ${first}`, ...indented];
  });
  return [title, ...lines].join("\n");
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}

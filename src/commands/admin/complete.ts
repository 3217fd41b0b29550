import { connectToDaemon, type Client } from "../../client/connect.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import { nameKey } from "../../protocol/names.ts";
import { OPERATOR } from "../../protocol/records/mail.ts";
import type { Completes } from "../shared/command.ts";
import type { HelpTable, HelpTopic, VerbHelp } from "../shared/verb/help-page.ts";
import { declaredWorkersHere, findProjectHere, projectOfRun, projectRefHere } from "../shared/here.ts";

/** A word that may stand in place of the one that is being typed. */
interface Candidate {
  word: string;
  about?: string;
}

/** Lines that are no words: the shell itself offers files, folders or commands then. No name of ours begins with a colon. */
type ShellsOwn = ":files" | ":folders" | ":commands";

/**
 * Lists what could stand in place of the last word, which is being typed, for `perdure __complete`: a word a line, with what it means
 * behind a tab.
 */
export async function complete(
  words: readonly string[],
  table: HelpTable,
  topics: readonly HelpTopic[],
): Promise<string[]> {
  const typed = words.at(-1) ?? "";
  const found = await candidatesFor(words.slice(0, -1), typed, table, topics);
  if (typeof found === "string") return [found];
  return found
    .filter(({ word }) => word.startsWith(typed === "=" ? "" : typed))
    .map(({ word, about }) => (about === undefined ? word : `${word}\t${about}`));
}

async function candidatesFor(
  before: readonly string[],
  typed: string,
  { groups }: HelpTable,
  topics: readonly HelpTopic[],
): Promise<readonly Candidate[] | ShellsOwn> {
  const verbs = groups.flatMap((group) => group.verbs);
  const [verb, ...args] = before;
  const verbCandidates = verbs.map((each) => ({ word: each.verb, about: each.summary }));
  if (verb === undefined) return typed.startsWith("-") ? GLOBAL_OPTIONS : [...verbCandidates, HELP];
  if (verb === "help") {
    return args.length === 0
      ? [...verbCandidates, ...topics.map(({ topic, title }) => ({ word: topic, about: title }))]
      : [];
  }
  const help = verbs.find((each) => each.verb === verb);
  if (help === undefined) return [];
  if (args.includes("--")) return afterDashes(help, args.at(-1) === "--");
  return (await optionValue(help, args, typed)) ?? optionsOrArgument(help, args, typed);
}

const HELP: Candidate = { word: "help", about: "list the verbs, or explain one" };
const OPTIONS_OF_ALL: readonly Candidate[] = [
  { word: "--json", about: "print one JSON document" },
  { word: "--help", about: "explain the verb" },
];
const GLOBAL_OPTIONS: readonly Candidate[] = [...OPTIONS_OF_ALL, { word: "--version", about: "print the version" }];

function afterDashes({ takesRest }: VerbHelp, isFirst: boolean): readonly Candidate[] | ShellsOwn {
  if (takesRest !== true) return [];
  return isFirst ? ":commands" : ":files";
}

/**
 * Completes the value of an option, which may be joined to it (`--session=fr`), or parted from it by bash, which takes the sign for a
 * word of its own. Returns null where no value is due.
 */
async function optionValue(
  help: VerbHelp,
  args: readonly string[],
  typed: string,
): Promise<readonly Candidate[] | ShellsOwn | null> {
  const [, joined, part = ""] = /^(--[a-z-]+)=(.*)$/.exec(typed) ?? [];
  if (joined !== undefined) {
    const found = await offered(optionOf(help, joined)?.completes, part);
    return typeof found === "string" ? found : prefixed(`${joined}=`, found);
  }
  const sign = typed === "=" ? args.length : args.at(-1) === "=" ? args.length - 1 : null;
  const option = optionOf(help, args[sign === null ? args.length - 1 : sign - 1] ?? "");
  return option?.value === undefined ? null : offered(option.completes, typed);
}

async function optionsOrArgument(
  help: VerbHelp,
  args: readonly string[],
  typed: string,
): Promise<readonly Candidate[] | ShellsOwn> {
  if (typed.startsWith("-")) {
    const own = Object.entries(help.options ?? {}).map(([name, { about }]) => ({ word: `--${name}`, about }));
    return [...own, ...OPTIONS_OF_ALL];
  }
  const given = argumentsAmong(help, args);
  const most = help.words[1] ?? Number.POSITIVE_INFINITY;
  if (given.length >= most) return [];
  if (given.length === 0 && help.subcommands) {
    return Object.entries(help.subcommands).map(([form, about]) => ({ word: form.split(" ")[0] ?? form, about }));
  }
  const { completes = [] } = help;
  // The last entry holds for what follows only where any number of such words is taken.
  const isSame = given.length < completes.length || most > 2;
  const found = await offered(completes[given.length] ?? (isSame ? completes.at(-1) : undefined), typed);
  return typeof found === "string" ? found : found.filter(({ word }) => !given.includes(word));
}

/** Returns the arguments that are neither options nor their values. */
function argumentsAmong(help: VerbHelp, args: readonly string[]): string[] {
  return args.filter((arg, at) => {
    if (arg.startsWith("-") || arg === "=" || args[at - 1] === "=") return false;
    return optionOf(help, args[at - 1] ?? "")?.value === undefined;
  });
}

function optionOf({ options = {} }: VerbHelp, word: string): NonNullable<VerbHelp["options"]>[string] | undefined {
  return Object.entries(options).find(([name, { short }]) => word === `--${name}` || word === `-${short ?? "-"}`)?.[1];
}

/** Returns what can be completed to; after a comma, the next of several. */
async function offered(completes: Completes | undefined, typed: string): Promise<readonly Candidate[] | ShellsOwn> {
  if (completes === undefined) return [];
  if (completes === "file") return ":files";
  if (completes === "folder") return ":folders";
  const before = typed.slice(0, typed.lastIndexOf(",") + 1);
  return prefixed(before, typeof completes === "string" ? await names(completes) : completes.map((word) => ({ word })));
}

function prefixed(prefix: string, candidates: readonly Candidate[]): Candidate[] {
  return candidates.map(({ word, ...rest }) => ({ word: `${prefix}${word}`, ...rest }));
}

/** Lists names, those of the store only if a daemon runs: pressing a key must not start one. */
async function names(kind: "worker" | "recipient" | "saved"): Promise<Candidate[]> {
  const client = await connectToDaemon({ autostart: false }).catch(() => null);
  try {
    const known = client === null ? [] : await (kind === "saved" ? savedSessions(client) : workers(client));
    if (kind === "saved") return known;
    const declared = declaredWorkersHere(findProjectHere())
      .filter(({ name }) => !known.some(({ word }) => nameKey(word) === nameKey(name)))
      .map(({ name }) => ({ word: name, about: "not started yet" }));
    return [...known, ...declared, ...(kind === "recipient" ? OTHER_RECIPIENTS : [])];
  } catch (error) {
    if (isPerdureError(error)) return []; // a completion has nowhere to report an error
    throw error;
  } finally {
    client?.close();
  }
}

const OTHER_RECIPIENTS: readonly Candidate[] = [
  { word: OPERATOR, about: "you" },
  { word: "supervisor", about: "whoever started the caller" },
  { word: "@all", about: "every worker of the project" },
];

async function workers(client: Client): Promise<Candidate[]> {
  const { items } = await client.collect("ls", { here: projectRefHere(), project: projectOfRun(), all: false });
  return items.map(({ name, state }) => ({ word: name, about: state }));
}

async function savedSessions(client: Client): Promise<Candidate[]> {
  const { items } = await client.collect("saved", { here: projectRefHere(), project: projectOfRun() });
  return items.map(({ name, active }) => (active ? { word: name, about: "active" } : { word: name }));
}

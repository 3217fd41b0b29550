import { parseArgs } from "node:util";
import type { Command, Invocation } from "./commands/shared/command.ts";
import { createOutput } from "./commands/shared/output.ts";
import { context } from "./commands/context/context.ts";
import { whoamiCommand } from "./commands/names/whoami.ts";
import { asPerdureError, PerdureError } from "./protocol/errors.ts";
import { nearest } from "./protocol/names.ts";
import { own } from "./util/own.ts";
import { VERSION } from "./protocol/version.ts";

async function main(argv: string[]): Promise<number> {
  const dashes = argv[0] === "__complete" ? -1 : argv.indexOf("--");
  const words = dashes < 0 ? argv : argv.slice(0, dashes);
  const out = createOutput(words.includes("--json"), process.env);
  try {
    return await dispatch(words, dashes < 0 ? null : argv.slice(dashes + 1), out);
  } catch (thrown) {
    const error = asPerdureError(thrown);
    out.error(error);
    if (error.code === "internal" && process.env.PERDURE_DEBUG) out.note(String((thrown as Error).stack));
    return error.exitCode;
  }
}

async function dispatch(words: string[], rest: string[] | null, out: Invocation["out"]): Promise<number> {
  const [first, ...others] = words.filter((word) => word !== "--json");
  if (first === "--version" || first === "-V") {
    out.result({ version: VERSION }, () => VERSION);
    return 0;
  }
  if (first === "__complete") {
    const { complete } = await import("./commands/verbs.ts");
    const text = await complete(words.slice(1));
    out.result({ candidates: text.split("\n") }, () => text);
    return 0;
  }
  if (first === "help" || first === "--help" || first === "-h") {
    const { help } = await import("./commands/verbs.ts");
    if (others.length > 1) {
      throw new PerdureError("usage", `help: ${JSON.stringify(others[1])} is one word too many.`, {
        hint: "perdure help [VERB]",
      });
    }
    out.result(...(await help(others[0])));
    return 0;
  }
  const verb = first ?? "";
  const command = own(HOT, verb) ?? (await loadVerb(verb));
  if (others.includes("--help") || others.includes("-h")) {
    const { help } = await import("./commands/verbs.ts");
    out.result(...(await help(verb)));
    return 0;
  }
  const code = await command.run({ ...parse(verb, command, others, rest), out });
  return code ?? 0;
}

function parse(verb: string, command: Command, args: string[], rest: string[] | null): Omit<Invocation, "out"> {
  if (rest !== null && !command.takesRest) throw usage(verb, "nothing may follow --", command);
  const { values, positionals } = parseOptions(verb, command, args);
  const [least, most] = command.words;
  if (positionals.length < least) throw usage(verb, `${missingWord(command, positionals.length)} is missing`, command);
  if (positionals.length > most) throw usage(verb, tooMany(command, positionals[most] ?? ""), command);
  return { values, words: positionals, rest };
}

function tooMany(command: Command, word: string): string {
  const advice = command.takesRest ? " (a command comes after --)" : "";
  return `${JSON.stringify(word)} is one word too many${advice}`;
}

/** The word of the usage line that nobody gave. */
function missingWord({ usage: line }: Command, given: number): string {
  const word = line.split(" ")[given] ?? "";
  return /^[A-Z]+$/.test(word) ? word : "a word";
}

function parseOptions(
  verb: string,
  command: Command,
  args: string[],
): { values: Invocation["values"]; positionals: string[] } {
  try {
    const parsed = parseArgs({ args, options: command.options ?? {}, allowPositionals: true, strict: true });
    return { values: parsed.values as Invocation["values"], positionals: parsed.positionals };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const option = /'(-[^' ]+)/.exec(message)?.[1];
    const known = Object.keys(command.options ?? {}).map((name) => `--${name}`);
    const [near] = option ? nearest(option, known) : [];
    const what = /Unknown option/.test(message)
      ? `there is no option ${option}`
      : /ambiguous/.test(message)
        ? `a value that begins with a dash is joined on: ${option}='-…'`
        : (message.split(/\.\s/)[0] ?? message);
    throw usage(verb, near && near !== option ? `${what}; did you mean ${near}?` : what, command);
  }
}

function usage(verb: string, what: string, command: Command): PerdureError {
  return new PerdureError("usage", `${verb === "" ? "" : `${verb}: `}${what}${what.endsWith("?") ? "" : "."}`, {
    hint: `perdure ${verb} ${command.usage}   (more: perdure ${verb} --help)`.replace(/ {2,}/g, "  "),
  });
}

/**
 * What agents call all day, in the first file that is read. The others are a second file: reading a file of their
 * size costs 2 ms, as much as these verbs take to run.
 */
const HOT: Readonly<Record<string, Command>> = { whoami: whoamiCommand, context };

async function loadVerb(verb: string): Promise<Command> {
  const { withConfigWarning, VERBS } = await import("./commands/verbs.ts");
  const load = own(VERBS, verb);
  if (load === undefined) throw unknownVerb(verb, Object.keys(VERBS));
  return withConfigWarning(await load());
}

function unknownVerb(verb: string, verbs: string[]): PerdureError {
  const near = nearest(verb, verb.startsWith("-") ? ["--json", "--help", "--version"] : verbs.filter(Boolean));
  const what = verb.startsWith("-") ? `There is no option ${verb}` : `There is no verb ${JSON.stringify(verb)}`;
  return new PerdureError("usage", `${what}.`, {
    hint: near.length > 0 ? `did you mean: perdure ${near.join(", perdure ")}?` : "perdure help",
  });
}

// Everything is written by then: output is synchronous.
void main(process.argv.slice(2)).then((code) => process.exit(code));

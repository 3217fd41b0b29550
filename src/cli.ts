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
      throw new PerdureError("usage", `help: unexpected argument ${JSON.stringify(others[1])}.`, {
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
  if (rest !== null && !command.takesRest) throw usage(verb, "no arguments may follow --", command);
  const { values, positionals } = parseOptions(verb, command, args);
  const [least, most] = command.words;
  if (positionals.length < least) throw usage(verb, `${missingName(command, positionals.length)} is missing`, command);
  if (positionals.length > most) throw usage(verb, unexpected(command, positionals[most] ?? ""), command);
  return { values, words: positionals, rest };
}

function unexpected(command: Command, argument: string): string {
  const advice = command.takesRest ? " (a command comes after --)" : "";
  return `unexpected argument ${JSON.stringify(argument)}${advice}`;
}

/** Names the first missing argument as the usage line does. */
function missingName({ usage: line }: Command, count: number): string {
  const name = line.split(" ")[count] ?? "";
  return /^[A-Z]+$/.test(name) ? name : "an argument";
}

function parseOptions(
  verb: string,
  command: Command,
  args: string[],
): { values: Invocation["values"]; positionals: string[] } {
  try {
    const options = { ...command.options, ...aliasOptions(command) };
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true, strict: true });
    return { values: resolveAliases(command, values as Invocation["values"]), positionals };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const option = /'(-[^' ]+)/.exec(message)?.[1];
    const known = Object.keys(command.options ?? {}).map((name) => `--${name}`);
    const [near] = option ? nearest(option, known) : [];
    const problem = /Unknown option/.test(message)
      ? `there is no option ${option}`
      : /ambiguous/.test(message)
        ? `a value that begins with a dash must be joined with "=": ${option}='-…'`
        : (message.split(/\.\s/)[0] ?? message);
    throw usage(verb, near && near !== option ? `${problem}; did you mean ${near}?` : problem, command);
  }
}

function aliasOptions({ aliases = {} }: Command): NonNullable<Command["options"]> {
  return Object.fromEntries(Object.keys(aliases).map((alias) => [alias, { type: "string" }]));
}

/** Hands a value that was given under an alias to the option's present name; a value under that name wins. */
function resolveAliases({ aliases = {} }: Command, values: Invocation["values"]): Invocation["values"] {
  const resolved = Object.entries(aliases).map(([alias, name]) => [name, values[name] ?? values[alias]] as const);
  return { ...values, ...Object.fromEntries(resolved) };
}

function usage(verb: string, problem: string, command: Command): PerdureError {
  return new PerdureError("usage", `${verb === "" ? "" : `${verb}: `}${problem}${problem.endsWith("?") ? "" : "."}`, {
    hint: `perdure ${verb} ${command.usage}   (more: perdure ${verb} --help)`.replace(/ {2,}/g, "  "),
  });
}

/**
 * Verbs that agents call all day, kept in the first bundle. The other verbs are a second bundle: reading a file of that
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
  const problem = verb.startsWith("-") ? `There is no option ${verb}` : `There is no verb ${JSON.stringify(verb)}`;
  return new PerdureError("usage", `${problem}.`, {
    hint: near.length > 0 ? `did you mean: perdure ${near.join(", perdure ")}?` : "perdure help",
  });
}

// Output is synchronous, so exiting loses none of it.
void main(process.argv.slice(2)).then((code) => process.exit(code));

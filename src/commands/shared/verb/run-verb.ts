import { parseArgs, type ParseArgsConfig } from "node:util";
import { asPerdureError, isPerdureError, PerdureError } from "../../../protocol/errors.ts";
import { nearest } from "../../../protocol/names.ts";
import { shellWords } from "../../../util/shell-quote.ts";
import type { Command, Invocation } from "../command.ts";
import { withConfigWarning } from "../warnings/config-warning.ts";
import { verbHelp } from "./help-page.ts";
import { createOutput, type Output } from "../output.ts";

/** Runs one verb with the command line of this process, and ends the process with the verb's exit code. */
export function runVerb(verb: string, command: Command): void {
  void exitWith(process.argv.slice(2), (words, rest, out) => invoke(verb, command, words, rest, out));
}

/** Runs what a command line asks for, prints an error as the output's format wants it, and ends the process. */
export async function exitWith(
  argv: readonly string[],
  body: (words: string[], rest: string[] | null, out: Output) => Promise<number>,
): Promise<void> {
  // `--` and `--json` on a line that is being completed are that line's.
  const isCompletion = argv[0] === "__complete";
  const dashes = isCompletion ? -1 : argv.indexOf("--");
  const words = dashes < 0 ? argv : argv.slice(0, dashes);
  const out = createOutput(!isCompletion && words.includes("--json"), process.env);
  const code = await body(
    words.filter((word) => isCompletion || word !== "--json"),
    dashes < 0 ? null : argv.slice(dashes + 1),
    out,
  ).catch(async (thrown: unknown) => {
    const error = asPerdureError(thrown);
    out.error(error);
    const fd = process.env.PERDURE_ERROR_FD;
    if (fd !== undefined) (await import("./tell-starter.ts")).tellStarter(Number(fd), error);
    if (error.code === "internal" && process.env.PERDURE_DEBUG) out.note(String((thrown as Error).stack));
    return error.exitCode;
  });
  process.exit(code); // output is synchronous, so exiting loses none of it
}

async function invoke(
  verb: string,
  command: Command,
  words: string[],
  rest: string[] | null,
  out: Output,
): Promise<number> {
  const args = words.slice(1);
  if (args.includes("--help") || args.includes("-h")) {
    out.result(...verbHelp(verb, command));
    return 0;
  }
  try {
    const code = await withConfigWarning(command).run({ ...parse(verb, command, args, rest), out });
    return code ?? 0;
  } catch (error) {
    if (!isPerdureError(error)) throw error;
    throw typeof error.details?.unknown === "string" ? await startDeclared(error) : withTypedVerb(verb, error);
  }
}

/** A worker that the daemon does not know may be one of perdure.toml that was never up: then the next step is `up`. */
async function startDeclared(error: PerdureError): Promise<PerdureError> {
  const { declaredHint } = await import("./declared-hint.ts");
  return declaredHint(error);
}

/** Names the verb that was typed where the daemon, which knows the call only, refuses it to a worker. */
function withTypedVerb(verb: string, error: PerdureError): PerdureError {
  if (typeof error.details?.operatorOnly !== "string") return error;
  const message = `${verb}: only the operator may do that, and ${error.details.operatorOnly} is a worker.`;
  return new PerdureError(error.code, message, { hint: error.next, details: error.details, cause: error });
}

function parse(verb: string, command: Command, args: string[], rest: string[] | null): Omit<Invocation, "out"> {
  if (rest !== null && !command.takesRest) throw usage(verb, "no arguments may follow --", command);
  const { values, positionals } = parseOptions(verb, command, args);
  const [least, most] = command.words;
  if (positionals.length < least) throw usage(verb, `${argumentName(command, positionals.length)} is missing`, command);
  if (positionals.length > most) {
    const hint = quotedForm(verb, command, positionals, most);
    throw usage(verb, unexpected(command, positionals[most] ?? ""), command, hint);
  }
  const empty = positionals.indexOf("");
  if (empty >= 0) throw usage(verb, `${argumentName(command, empty)} is empty ("")`, command);
  return { values, words: positionals, rest };
}

/** Returns the command line with its text as one argument; null for a verb that takes none. */
function quotedForm(
  verb: string,
  { usage: line, words: [, most] }: Command,
  words: string[],
  at: number,
): string | null {
  if (!/\bTEXT\b/.test(line) || most < 2) return null;
  const quoted = shellWords(["perdure", verb, ...words.slice(0, at - 1), words.slice(at - 1).join(" ")]);
  return `${quoted}   (a text of several words is quoted)`;
}

function unexpected(command: Command, argument: string): string {
  const advice = command.takesRest ? " (a command comes after --)" : "";
  return `unexpected argument ${JSON.stringify(argument)}${advice}`;
}

/** Names an argument as the usage line does. */
function argumentName({ usage: line }: Command, at: number): string {
  const name = (line.split(" ")[at] ?? "").replace(/^\[(.+)\]$/, "$1");
  return /^[A-Z]+$/.test(name) ? name : "an argument";
}

function parseOptions(
  verb: string,
  command: Command,
  args: string[],
): { values: Invocation["values"]; positionals: string[] } {
  // Nothing to parse: loading what parses takes half a millisecond.
  if (!args.some((arg) => arg.startsWith("-"))) return { values: {}, positionals: args };
  try {
    const options = { ...parserOptions(command), ...aliasOptions(command) };
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

type ParserOptions = NonNullable<ParseArgsConfig["options"]>;

function parserOptions({ options = {} }: Command): ParserOptions {
  return Object.fromEntries(
    Object.entries(options).map(([name, { value, short, multiple }]) => [
      name,
      { type: value === undefined ? "boolean" : "string", ...(short && { short }), ...(multiple && { multiple }) },
    ]),
  );
}

function aliasOptions({ aliases = {} }: Command): ParserOptions {
  return Object.fromEntries(Object.keys(aliases).map((alias) => [alias, { type: "string" }]));
}

/** Hands a value that was given under an alias to the option's present name; a value under that name wins. */
function resolveAliases({ aliases = {} }: Command, values: Invocation["values"]): Invocation["values"] {
  const resolved = Object.entries(aliases).map(([alias, name]) => [name, values[name] ?? values[alias]] as const);
  return { ...values, ...Object.fromEntries(resolved) };
}

function usage(verb: string, problem: string, command: Command, hint: string | null = null): PerdureError {
  return new PerdureError("usage", `${verb === "" ? "" : `${verb}: `}${problem}${problem.endsWith("?") ? "" : "."}`, {
    hint: hint ?? `perdure ${verb} ${command.usage}   (more: perdure ${verb} --help)`.replace(/ {2,}/g, "  "),
  });
}

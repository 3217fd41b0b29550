import type { ParseArgsConfig } from "node:util";
import type { Output } from "./output.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;

/** A verb's parsed command line, and where its output goes. */
export interface Invocation {
  /** The options by name. */
  values: Readonly<Record<string, string | boolean | undefined>>;
  /** The positional arguments. */
  words: readonly string[];
  /** The arguments after `--`; null when there was no `--`. */
  rest: readonly string[] | null;
  out: Output;
}

/** A verb: its help, its options and its code. */
export interface Command {
  summary: string;
  /** The arguments after `perdure VERB`, for the usage line. */
  usage: string;
  /** Sentences below the summary in `--help`. */
  details?: string;
  examples: readonly string[];
  options?: Options;
  /** Former names of options with a value, each with the present name; accepted, but neither completed nor in the help. */
  aliases?: Readonly<Record<string, string>>;
  /** The least and the greatest number of positional arguments. */
  words: readonly [least: number, most: number];
  takesRest?: boolean;
  run(invocation: Invocation): Promise<number | void>;
}

/** Verbs by name, each loaded when it is called. The empty name is the bare `perdure`. */
export type VerbTable = Readonly<Record<string, () => Promise<Command>>>;

/** Verbs of one subject, under one heading of `perdure help`. */
export interface VerbGroup {
  title: string;
  verbs: VerbTable;
}

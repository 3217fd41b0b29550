import type { ParseArgsConfig } from "node:util";
import type { Output } from "./output.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;

/** What a verb gets: its options and words as parsed, and what stood after `--`. */
export interface Invocation {
  values: Readonly<Record<string, string | boolean | undefined>>;
  words: readonly string[];
  /** Null when there was no `--`. */
  rest: readonly string[] | null;
  out: Output;
}

/** One verb per file. */
export interface Command {
  summary: string;
  /** What comes after `perdure VERB`. */
  usage: string;
  /** Sentences below the summary in `--help`. */
  details?: string;
  examples: readonly string[];
  options?: Options;
  /** How many words it takes besides options: least and most. */
  words: readonly [least: number, most: number];
  takesRest?: boolean;
  run(invocation: Invocation): Promise<number | void>;
}

/** Every verb by its name, loaded when it is called. The empty name is the bare `perdure`. */
export type VerbTable = Readonly<Record<string, () => Promise<Command>>>;

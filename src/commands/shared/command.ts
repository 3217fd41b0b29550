import type { Output } from "./output.ts";

/**
 * Says what the shell completes a word to: names of workers, those and whoever else can get mail, saved sessions, files, folders,
 * or one of these words. Where nothing is said, nothing is offered, files neither.
 */
export type Completes = "worker" | "recipient" | "saved" | "file" | "folder" | readonly string[];

/** An option of a verb: its help, its completion, its line in the man page and in docs/reference.md are made from this. */
export interface VerbOption {
  /** The effect of the option: a phrase without a full stop, for the right column of `--help`. */
  about: string;
  /** The placeholder of its value; an option without one is a switch. */
  value?: string;
  /** Says what the value is completed to. */
  completes?: Completes;
  /** The letter of its short form. */
  short?: string;
  /** Set for an option that may be given several times, each time with a value. */
  multiple?: true;
}

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
  /** The arguments after `perdure VERB`, for the usage line; `[options]` stands for the options that it does not name. */
  usage: string;
  /** Sentences below the usage line in `--help`, which breaks the lines anew; an empty line begins a paragraph. */
  details?: string;
  /** The first arguments that the verb takes as commands of its own, with their further arguments, and what each does. */
  subcommands?: Readonly<Record<string, string>>;
  examples: readonly string[];
  /** The options by name, the most used first. */
  options?: Readonly<Record<string, VerbOption>>;
  /** Former names of options with a value, each with the present name; accepted, but neither completed nor in the help. */
  aliases?: Readonly<Record<string, string>>;
  /** The least and the greatest number of positional arguments. */
  words: readonly [least: number, most: number];
  /** Says what the arguments are completed to, in order; the last one holds for all that follow, up to `words`. */
  completes?: readonly Completes[];
  /** Whether arguments may follow `--`: a command, or a text that begins with a dash. */
  takesRest?: true | "text";
  run(invocation: Invocation): Promise<number | void>;
}

/** Verbs by name, each loaded when it is called. The empty name is the bare `perdure`. */
export type VerbTable = Readonly<Record<string, () => Promise<Command>>>;

/** Verbs under one heading of `perdure help`, by name. */
export interface VerbGroup {
  title: string;
  verbs: readonly string[];
}

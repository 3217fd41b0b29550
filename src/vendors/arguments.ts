import type { Reading } from "./adapter.ts";

/** What a vendor's command line looks like, as data. */
export interface ArgumentTable {
  /** Options that take a value in the next word. */
  valued: ReadonlySet<string>;
  /** Words that make it something else than a conversation: a subcommand, or `--version`. */
  aside: ReadonlySet<string>;
  /** Options that choose a conversation, or keep none, and the reason to refuse each. */
  conflicts: Readonly<Record<string, string>>;
  /** Options after which nobody sits in front of it. */
  headless: ReadonlySet<string>;
}

/** What the arguments are for. The first word of its own is a subcommand, if there is one of that name. */
export function readArguments(args: readonly string[], table: ArgumentTable): Reading {
  const words = wordsOf(args, table.valued);
  const options = words.filter(({ kind }) => kind === "option").map(({ text }) => text);
  const subcommand = words.find(({ kind }) => kind === "word")?.text ?? "";
  return {
    converses: !table.aside.has(subcommand) && !options.some((option) => table.aside.has(option)),
    headless: options.some((option) => table.headless.has(option)),
    conflict: conflictOf(words, table.conflicts),
  };
}

/** Whether the user has given one of these options, also as `--option=value`. */
export function hasOption(args: readonly string[], table: ArgumentTable, ...options: string[]): boolean {
  return wordsOf(args, table.valued).some(
    ({ text, kind }) => kind === "option" && options.includes(text.split("=")[0] ?? ""),
  );
}

/** A table of words, written as one text. */
export function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter(Boolean));
}

export interface Word {
  text: string;
  /** Its place among the arguments. */
  at: number;
  /** Behind a `--` a word is only ever itself. */
  kind: "option" | "value" | "word" | "literal";
}

/** Each argument, and whether it is an option, the value of one, or a word of its own. */
export function wordsOf(args: readonly string[], valued: ReadonlySet<string>): Word[] {
  const words: Word[] = [];
  let awaiting = false;
  let onlyWords = false;
  for (const [at, text] of args.entries()) {
    if (onlyWords) words.push({ text, at, kind: "literal" });
    else if (awaiting) words.push({ text, at, kind: "value" });
    else if (text === "--") words.push({ text, at, kind: "option" });
    else words.push({ text, at, kind: text.startsWith("-") && text !== "-" ? "option" : "word" });
    onlyWords ||= text === "--" && !awaiting;
    awaiting = !onlyWords && !awaiting && valued.has(text);
  }
  return words;
}

/** The first option of the table among the arguments, also as `--option=value`, with what speaks against it. */
export function conflictOf(words: readonly Word[], conflicts: ArgumentTable["conflicts"]): string | null {
  for (const { text, kind } of words) {
    const option = kind === "option" ? (text.split("=")[0] ?? text) : "";
    const why = Object.hasOwn(conflicts, option) ? conflicts[option] : undefined;
    if (why !== undefined) return `${option}: ${why}`;
  }
  return null;
}

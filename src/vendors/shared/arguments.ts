import type { Reading } from "../adapter.ts";

/** What a vendor's command line looks like, as data. */
export interface ArgumentTable {
  /** Options that take a value in the next word. */
  valued: ReadonlySet<string>;
  /** Options that take one if the next word is not an option. */
  optional?: ReadonlySet<string>;
  /** Options that take all words up to the next option. */
  many?: ReadonlySet<string>;
  /** `-nt` is one option, not `-n` and `-t`. */
  whole?: true;
  /** Words that make it something else than a conversation: a subcommand, or `--version`. */
  aside: ReadonlySet<string>;
  /** Options that choose a conversation, or keep none, and the reason to refuse each. */
  conflicts: Readonly<Record<string, string>>;
  /** Options after which nobody sits in front of it, and any word is the prompt. */
  headless: ReadonlySet<string>;
}

/** What the arguments are for. The first word of its own is a subcommand, if there is one of that name. */
export function readArguments(args: readonly string[], table: ArgumentTable): Reading {
  const words = wordsOf(args, table);
  const options = words.flatMap((word) => optionsOf(word, table));
  const headless = options.some((option) => table.headless.has(option));
  const first = words.find(({ kind }) => kind === "word" || kind === "literal");
  const subcommand = !headless && first?.kind === "word" ? first.text : "";
  return {
    converses: !table.aside.has(subcommand) && !options.some((option) => table.aside.has(option)),
    headless,
    conflict: conflictOf(words, table),
  };
}

/** Whether the user has given one of these options, also as `--option=value`. */
export function hasOption(args: readonly string[], table: ArgumentTable, ...options: string[]): boolean {
  return wordsOf(args, table).some((word) => optionsOf(word, table).some((option) => options.includes(option)));
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
  /** Of a value: the option it belongs to. */
  option?: string;
}

/** Each argument, and whether it is an option, the value of one, or a word of its own. */
export function wordsOf(args: readonly string[], { valued, optional, many }: ArgumentTable): Word[] {
  const words: Word[] = [];
  let option: string | null = null;
  let onlyWords = false;
  for (const [at, text] of args.entries()) {
    const dashed = text.startsWith("-") && text !== "-";
    if (onlyWords) words.push({ text, at, kind: "literal" });
    else if (option !== null && (valued.has(option) || !dashed)) words.push({ text, at, kind: "value", option });
    else words.push({ text, at, kind: dashed ? "option" : "word" });
    const { kind } = words.at(-1) ?? {};
    if (kind === "option") {
      onlyWords = text === "--";
      option = valued.has(text) || optional?.has(text) || many?.has(text) ? text : null;
    } else if (kind === "word" || (option !== null && !many?.has(option))) {
      option = null;
    }
  }
  return words;
}

/** `--name=x` is `--name`; `-cp` is `-c` and `-p`; `-nx` is `-n`, because that one takes the rest. */
export function optionsOf({ text, kind }: Word, { valued, whole }: ArgumentTable): string[] {
  if (kind !== "option") return [];
  if (text.startsWith("--") || text.length <= 2 || whole) return [text.split("=")[0] ?? text];
  const letters = Array.from(text.slice(1), (letter) => `-${letter}`);
  const takesRest = letters.findIndex((letter) => valued.has(letter));
  return takesRest < 0 ? letters : letters.slice(0, takesRest + 1);
}

/** The first option among the arguments that is against the table, with what speaks against it. */
export function conflictOf(words: readonly Word[], table: ArgumentTable): string | null {
  const { conflicts } = table;
  const found = words.flatMap((word) => optionsOf(word, table)).find((option) => Object.hasOwn(conflicts, option));
  return found === undefined ? null : `${found}: ${conflicts[found]}`;
}

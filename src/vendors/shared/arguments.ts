import type { ArgsInfo } from "../adapter.ts";

/** A vendor's command line, as data. */
export interface ArgumentTable {
  /** Options that take a value in the next word. */
  valued: ReadonlySet<string>;
  /** Options that take a value if the next word is not an option. */
  optional?: ReadonlySet<string>;
  /** Options that take all words up to the next option. */
  many?: ReadonlySet<string>;
  /** `-nt` is one option, not `-n` and `-t`. */
  whole?: true;
  /** Words with which the start is for no conversation: a subcommand, or `--version`. */
  noConversation: ReadonlySet<string>;
  /** Options that choose a conversation, or keep none, and the reason to refuse each. */
  conflicts: Readonly<Record<string, string>>;
  /** Options after which nobody sits in front of the program, and any word is the prompt. */
  headless: ReadonlySet<string>;
}

/** Reads what the arguments are for. The first plain word is a subcommand, if there is one of that name. */
export function readArguments(args: readonly string[], table: ArgumentTable): ArgsInfo {
  const tokens = tokensOf(args, table);
  const options = tokens.flatMap((token) => optionsOf(token, table));
  const headless = options.some((option) => table.headless.has(option));
  const first = tokens.find(({ kind }) => kind === "word" || kind === "literal");
  const subcommand = !headless && first?.kind === "word" ? first.text : "";
  return {
    converses: !table.noConversation.has(subcommand) && !options.some((option) => table.noConversation.has(option)),
    headless,
    conflict: conflictOf(tokens, table),
  };
}

/** Whether the user has given one of these options, also as `--option=value`. */
export function hasOption(args: readonly string[], table: ArgumentTable, ...options: string[]): boolean {
  return tokensOf(args, table).some((token) => optionsOf(token, table).some((option) => options.includes(option)));
}

/** A table of words, written as one text. */
export function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter(Boolean));
}

/** One argument, and the part it plays. */
export interface Token {
  text: string;
  /** The position among the arguments. */
  at: number;
  /** Behind a `--` a word is only ever itself. */
  kind: "option" | "value" | "word" | "literal";
  /** The option that a value belongs to. */
  option?: string;
}

/** Tells of each argument whether it is an option, the value of one, or a word of its own. */
export function tokensOf(args: readonly string[], { valued, optional, many }: ArgumentTable): Token[] {
  const tokens: Token[] = [];
  let option: string | null = null;
  let onlyWords = false;
  for (const [at, text] of args.entries()) {
    const dashed = text.startsWith("-") && text !== "-";
    if (onlyWords) tokens.push({ text, at, kind: "literal" });
    else if (option !== null && (valued.has(option) || !dashed)) tokens.push({ text, at, kind: "value", option });
    else tokens.push({ text, at, kind: dashed ? "option" : "word" });
    const { kind } = tokens.at(-1) ?? {};
    if (kind === "option") {
      onlyWords = text === "--";
      option = valued.has(text) || optional?.has(text) || many?.has(text) ? text : null;
    } else if (kind === "word" || (option !== null && !many?.has(option))) {
      option = null;
    }
  }
  return tokens;
}

/** `--name=x` is `--name`; `-cp` is `-c` and `-p`; `-nx` is `-n`, because that one takes the rest. */
export function optionsOf({ text, kind }: Token, { valued, whole }: ArgumentTable): string[] {
  if (kind !== "option") return [];
  if (text.startsWith("--") || text.length <= 2 || whole) return [text.split("=")[0] ?? text];
  const letters = Array.from(text.slice(1), (letter) => `-${letter}`);
  const takesRest = letters.findIndex((letter) => valued.has(letter));
  return takesRest < 0 ? letters : letters.slice(0, takesRest + 1);
}

/** Returns the first option that the table refuses, with the reason. */
export function conflictOf(tokens: readonly Token[], table: ArgumentTable): string | null {
  const { conflicts } = table;
  const found = tokens.flatMap((token) => optionsOf(token, table)).find((option) => Object.hasOwn(conflicts, option));
  return found === undefined ? null : `${found}: ${conflicts[found]}`;
}

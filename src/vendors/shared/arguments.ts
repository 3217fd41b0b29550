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
  /** The program takes `--sessionId` for `--session-id`; all other tables are in the second spelling. */
  camelCase?: true;
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

/** Returns the user's options with their values, without what is said: the words, and the values of options for a prompt. */
export function optionsIn(args: readonly string[], table: ArgumentTable): string[] {
  return tokensOf(args, table).flatMap(({ text, kind, option }) => {
    if (kind === "option") return PROMPT_OPTIONS.has(text.split("=")[0] ?? "") ? [text.split("=")[0] ?? ""] : [text];
    return kind === "value" && !PROMPT_OPTIONS.has(option ?? "") ? [text] : [];
  });
}

/** A table of words, written as one text. */
export function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter(Boolean));
}

/** The options of all vendors that say something to the model. */
const PROMPT_OPTIONS = wordSet("-p --print --prompt -i --interactive --prompt-interactive");

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
export function tokensOf(args: readonly string[], table: ArgumentTable): Token[] {
  const { valued, optional, many } = table;
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
      const name = nameBeforeValue(text, table);
      option = valued.has(name) || optional?.has(name) || many?.has(name) ? name : null;
    } else if (kind === "word" || (option !== null && !many?.has(option))) {
      option = null;
    }
  }
  return tokens;
}

/** Returns the option that a value in the next word belongs to: of letters in one word the last one, as in `-pn mine`. */
function nameBeforeValue(text: string, table: ArgumentTable): string {
  if (text.startsWith("--") || text.length <= 2 || table.whole) return spelled(text, table);
  const letters = optionsOf({ text, at: 0, kind: "option" }, table);
  return letters.length === text.length - 1 ? (letters.at(-1) ?? text) : text;
}

/** `--name=x` is `--name`; `-cp` is `-c` and `-p`; `-nx` is `-n`, because that one takes the rest. */
export function optionsOf({ text, kind }: Token, table: ArgumentTable): string[] {
  const { valued, whole } = table;
  if (kind !== "option") return [];
  if (text.startsWith("--") || text.length <= 2 || whole) return [spelled(text.split("=")[0] ?? text, table)];
  const letters = Array.from(text.slice(1), (letter) => `-${letter}`);
  const takesRest = letters.findIndex((letter) => valued.has(letter));
  return takesRest < 0 ? letters : letters.slice(0, takesRest + 1);
}

/** Spells an option as the tables do. */
function spelled(option: string, { camelCase }: ArgumentTable): string {
  if (camelCase !== true || !option.startsWith("--")) return option;
  return option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Returns the first option that the table refuses, with the reason. */
export function conflictOf(tokens: readonly Token[], table: ArgumentTable): string | null {
  const { conflicts } = table;
  const found = tokens.flatMap((token) => optionsOf(token, table)).find((option) => Object.hasOwn(conflicts, option));
  return found === undefined ? null : `${found}: ${conflicts[found]}`;
}

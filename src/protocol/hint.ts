import { shellWords } from "../util/shell-quote.ts";

/** A command of perdure that can be tried next. An argument in capitals is to be filled in, as in the usage of a verb. */
export interface HintCommand {
  readonly verb: string;
  readonly args: readonly string[];
}

/**
 * Words and commands in the order in which they are read: a hint is for a terminal, a page or a program, and whoever shows it writes
 * the commands in a way that can be used there.
 */
export type Hint = readonly (string | HintCommand)[];

/** Forms in which a hint can be given: words alone, one command, or both. */
export type HintLike = string | HintCommand | Hint;

/** Makes the command of a hint: `verb("project", "move", slug)`. */
export function verb(name: string, ...args: string[]): HintCommand {
  return { verb: name, args };
}

/** Makes a hint of words and commands: hintOf`answer first: ${verb("reply", id, "TEXT")}`. */
export function hintOf(words: TemplateStringsArray, ...values: (HintLike | number)[]): Hint {
  return join(words.flatMap((text, at) => [text, ...(at < values.length ? toHint(values[at]) : [])]));
}

/** Joins hints with words in between. */
export function joinHints(hints: readonly HintLike[], between: string): Hint {
  return join(hints.flatMap((each, at) => [...(at === 0 ? [] : [between]), ...toHint(each)]));
}

/** Returns the hint in its one form; without one, nothing is to be tried. */
export function toHint(hint: HintLike | number | null | undefined): Hint {
  if (hint === null || hint === undefined || hint === "") return [];
  if (typeof hint === "number") return [String(hint)];
  return typeof hint === "string" || "verb" in hint ? [hint] : hint;
}

/** Writes a hint for a shell; null for none. */
export function hintText(hint: Hint): string | null {
  if (hint.length === 0) return null;
  return hint.map((part) => (typeof part === "string" ? part : commandText(part))).join("");
}

/** Writes a command for a shell. */
export function commandText({ verb: name, args }: HintCommand): string {
  return shellWords(["perdure", name, ...args]);
}

/** The hint of an answer in both forms: structured, and as text for a client of before, which knows that one only. */
export interface Hinted {
  hint: string | null;
  next?: Hint;
}

/** Returns the hint of an answer as this program writes it, or, from a daemon of before, as the daemon has written it. */
export function shownHint({ hint = null, next }: Partial<Hinted>): string | null {
  return next === undefined ? hint : hintText(next);
}

export function hinted(hint: HintLike | null | undefined): Hinted {
  const next = toHint(hint);
  return next.length === 0 ? { hint: null } : { hint: hintText(next), next };
}

/** The command that starts a worker: `up` for one that was brought up with its fleet, else `run` in its folder. */
export function startVerb(name: string, inPane: boolean, ...more: string[]): HintCommand {
  return verb(inPane ? "up" : "run", name, ...more);
}

/** Joins words that follow each other, and leaves out empty ones. */
function join(parts: Hint): Hint {
  const joined: (string | HintCommand)[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (typeof part === "string" && typeof last === "string") joined[joined.length - 1] = last + part;
    else if (part !== "") joined.push(part);
  }
  return joined;
}

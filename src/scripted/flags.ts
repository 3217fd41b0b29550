import { parseArgs, type ParseArgsConfig } from "node:util";
import type { PersonaRefusal } from "./persona.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;
type Parsed<T extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; options: T; allowPositionals: true; strict: true }>
>;

/** Parses a vendor's flags; `refuse` words the error, because each vendor says it differently. */
export function readFlags<T extends Options>(
  args: string[],
  options: T,
  refuse: (flag: string, problem: string) => PersonaRefusal,
): Parsed<T> {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw refuse(/'(-[^' ]+)/.exec(error.message)?.[1] ?? "", error.message.split(/\.\s/)[0] ?? error.message);
  }
}

/** Takes `--flag value` or `--flag=value` out of the words, wherever it stands before a `--`. For flags of the scripted agent, which no vendor has. */
export function takeFlag(words: string[], flag: string): { value: string | null; rest: string[] } {
  const dashes = words.indexOf("--");
  const at = words.findIndex((word, index) => {
    return (dashes < 0 || index < dashes) && (word === flag || word.startsWith(`${flag}=`));
  });
  if (at < 0) return { value: null, rest: words };
  const word = words[at] ?? "";
  if (word !== flag) return { value: word.slice(flag.length + 1), rest: words.toSpliced(at, 1) };
  return { value: words[at + 1] ?? "", rest: words.toSpliced(at, 2) };
}

import { optionsOf, tokensOf, type ArgumentTable, type Token } from "./arguments.ts";

/**
 * Returns the user's options with their values for a turn: without what is said, because the prompt comes by the stdin, and without the
 * options of `leave`, with the values of those.
 */
export function turnOptions(args: readonly string[], table: ArgumentTable, leave: ReadonlySet<string>): string[] {
  return tokensOf(args, table).flatMap((token) => {
    const { kind, text, option = "" } = token;
    if (kind === "value") return leave.has(option) ? [] : [text];
    return kind === "option" && text !== "--" ? kept(token, table, leave) : [];
  });
}

/** Returns what is left of an option, which may be several letters in one word. */
function kept(token: Token, table: ArgumentTable, leave: ReadonlySet<string>): string[] {
  const names = optionsOf(token, table);
  const stay = names.filter((name) => !leave.has(name));
  if (stay.length === names.length) return [token.text];
  if (stay.length === 0) return [];
  const value = stay.includes(names.at(-1) ?? "") ? token.text.slice(1 + names.length) : "";
  return [`-${stay.map((name) => name.slice(1)).join("")}${value}`];
}

/** Returns the values that the user gave one of these options, in their order, also as `--option=value` and `-ovalue`. */
export function valuesOf(args: readonly string[], table: ArgumentTable, ...options: string[]): string[] {
  return tokensOf(args, table).flatMap((token) => {
    const { kind, text, option = "" } = token;
    if (kind === "value") return options.includes(option) ? [text] : [];
    if (kind !== "option") return [];
    const names = optionsOf(token, table);
    if (!options.includes(names.at(-1) ?? "")) return [];
    const joined =
      text.startsWith("--") || table.whole ? /^[^=]*=([^]*)$/.exec(text)?.[1] : text.slice(1 + names.length);
    return joined ? [joined.replace(/^=/, "")] : [];
  });
}

/** Returns the first of these options as the user has written it, unless it is switched off; null without any. */
export function optionGiven(args: readonly string[], table: ArgumentTable, ...options: string[]): string | null {
  const given = tokensOf(args, table).find(
    (token) => optionsOf(token, table).some((option) => options.includes(option)) && !token.text.endsWith("=false"),
  );
  return given?.text ?? null;
}

/** Quotes one word for sh, whatever is in it. */
export function shellQuote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Quotes a command line for sh; words that need no quotes get none. */
export function shellWords(words: readonly string[]): string {
  return words.map((word) => (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : shellQuote(word))).join(" ");
}

/** Quotes a command line for any login shell; csh and fish have other escapes, so a quote stands in double quotes. */
export function anyShellWords(words: readonly string[]): string {
  return words.map((word) => (/^[\w./=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`)).join(" ");
}

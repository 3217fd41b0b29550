/** One word in single quotes, as sh takes it back, whatever is in it. */
export function shellQuote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A command line as sh takes it back; words that need no quotes have none. */
export function shellWords(words: readonly string[]): string {
  return words.map((word) => (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : shellQuote(word))).join(" ");
}

/** A command line as any login shell takes it back: a quote stands in double quotes, since csh and fish know other escapes. */
export function anyShellWords(words: readonly string[]): string {
  return words.map((word) => (/^[\w./=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`)).join(" ");
}

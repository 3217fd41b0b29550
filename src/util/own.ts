/** Looks up a typed word in a table; inherited properties such as `constructor` are not found. */
export function own<T>(table: Readonly<Record<string, T>>, word: string): T | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}

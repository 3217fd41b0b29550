/** A table's entry by a word somebody typed: `constructor` and the like are in no table. */
export function own<T>(table: Readonly<Record<string, T>>, word: string): T | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}

/**
 * What a terminal shows that it did not show before, without repeating what only moved: the longest end of the old text
 * that the new one contains is where it goes on. A program that paints its screen anew shows all of it.
 */
export function newLines(before: readonly string[], now: readonly string[]): string[] {
  for (let from = 0; from < before.length; from++) {
    const known = before.slice(from);
    const at = lastOccurrence(now, known);
    if (at >= 0) return now.slice(at + known.length);
  }
  return [...now];
}

function lastOccurrence(lines: readonly string[], wanted: readonly string[]): number {
  for (let at = lines.length - wanted.length; at >= 0; at--) {
    if (wanted.every((line, index) => lines[at + index] === line)) return at;
  }
  return -1;
}

import type StringWidth from "string-width";

declare const PERDURE_VERSION: string | undefined;

/** The columns that a text takes on a terminal: two for Chinese, Japanese, Korean and pictures, none for a combining mark. */
export function columnsOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  measure ??= loadStringWidth().default;
  return measure(text, { countAnsiEscapeCodes: true }); // a table's cells are escaped: there are no codes in them
}

/** Letters of one column, and the signs of our own tables: `ls` must not wait 25 ms for Unicode's tables to be loaded. */
const PLAIN = /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u024f…→·○●◌◆✓✗]*$/;

let measure: typeof StringWidth | null = null;

/** The library is in a file of its own beside the bundle. */
function loadStringWidth(): { default: typeof StringWidth } {
  const loaded: unknown =
    typeof PERDURE_VERSION === "string"
      ? require("string-width")
      : process.getBuiltinModule("node:module").createRequire(import.meta.filename)("string-width");
  return loaded as { default: typeof StringWidth };
}

/** Cuts a text to so many columns, between characters as a reader sees them, with a mark where something is missing. */
export function cutToColumns(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  if (columns < 1) return "";
  let [kept, used] = ["", 1];
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += columnsOf(segment);
    if (used > columns) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}

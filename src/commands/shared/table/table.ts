import { columnsOf, cutToColumns } from "./columns.ts";
import { printable } from "../output.ts";

export interface Cell {
  text: string;
  paint?: (text: string) => string;
}

/**
 * Columns as wide as their widest cell. Colour is applied after measuring, so it never shifts a column. The last column is
 * cut where a line would be longer than a terminal is wide.
 */
export function table(
  header: string[],
  rows: (string | Cell)[][],
  paintHeader: (text: string) => string,
  columns = Infinity,
): string {
  const cells = rows.map((row) => row.map((cell) => (typeof cell === "string" ? { text: cell } : cell)));
  const texts = cells.map((row) => row.map((cell) => printable(cell.text)));
  const widths = header.map((title, column) =>
    Math.max(columnsOf(title), ...texts.map((row) => columnsOf(row[column] ?? ""))),
  );
  const last = header.length - 1;
  const before = widths.slice(0, last).reduce((sum, width) => sum + width + GAP.length, 0);
  const shown = texts.map((row) =>
    row.map((text, column) => (column === last ? cutToColumns(text, columns - before) : text)),
  );
  const line = (parts: string[], paint: (text: string, column: number) => string): string =>
    parts
      .map((text, column) => paint(text, column) + " ".repeat(Math.max(0, (widths[column] ?? 0) - columnsOf(text))))
      .join(GAP)
      .trimEnd();
  return [
    line(header, (text) => paintHeader(text)),
    ...shown.map((parts, row) => line(parts, (text, column) => cells[row]?.[column]?.paint?.(text) ?? text)),
  ].join("\n");
}

const GAP = "  ";

/** How long ago, in the largest whole unit: `12s`, `3m`, `2h`, `5d`. */
export function age(fromIso: string, nowMs = Date.now()): string {
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(fromIso)) / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 48 * 3600 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86400)}d`;
}

/** In the largest unit it has one of: `312 B`, `4.1 kB`, `2.0 MB`. */
export function size(bytes: number): string {
  const units = ["B", "kB", "MB", "GB"];
  let [value, unit] = [bytes, 0];
  while (value >= 1000 && unit < units.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** Enough of an id to tell it from its neighbours: the end, because ids that begin with the time begin alike. */
export function shortId(id: string): string {
  return id.length <= 13 ? id : `…${id.slice(-12)}`;
}

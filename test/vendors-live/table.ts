import type { Result } from "./run-cases.ts";

/** Vendors × cases, the reasons for what is not there, and what failed in full. */
export function tableOf(headline: string, results: readonly Result[]): string {
  const vendors = [...new Set(results.map(({ vendor }) => vendor))];
  const reasons = new Map<string, number>();
  const rows = new Map<string, string[]>();
  for (const result of results) {
    const key = `${result.letter} ${result.mode}`;
    const row = rows.get(key) ?? [result.letter, result.title, result.mode, ...vendors.map(() => "")];
    row[3 + vendors.indexOf(result.vendor)] = cell(result, reasons);
    rows.set(key, row);
  }
  const lines = aligned([["", headline, "", ...vendors], ...[...rows.values()].map(onceATitle)]);
  const told = [...reasons].map(([reason, number]) => `  ${number}) ${reason}`);
  return [...lines, ...told, ...results.filter(({ outcome }) => outcome === "failed").map(failure)].join("\n");
}

export function count(results: readonly Result[], outcome: Result["outcome"]): number {
  return results.filter((result) => result.outcome === outcome).length;
}

/** `ok  2310 ms 1)` */
function cell({ outcome, ms, why, notes }: Result, reasons: Map<string, number>): string {
  const told = outcome === "cannot" ? [why] : notes;
  const numbers = told.map((reason) => {
    if (!reasons.has(reason)) reasons.set(reason, reasons.size + 1);
    return `${reasons.get(reason)})`;
  });
  const word = { ok: "ok", failed: "FAILED", cannot: "—" }[outcome];
  return [outcome === "cannot" ? word : `${word.padEnd(6)} ${String(ms).padStart(5)} ms`, ...numbers].join(" ");
}

/** The title stands beside the first of its rows. */
function onceATitle(row: string[], at: number, all: string[][]): string[] {
  return all[at - 1]?.[0] === row[0] ? ["", "", ...row.slice(2)] : row;
}

function aligned(rows: readonly string[][]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

function failure({ vendor, letter, title, mode, why }: Result): string {
  return `\n${vendor} ${letter} ${mode}: ${title}\n  ${why.replaceAll("\n", "\n  ")}`;
}

export interface Row {
  what: string;
  ours: string;
  floor: string;
  /** The figure that is compared with the goal: a ratio within this run, or an amount. */
  value: number;
  goal: number;
  /** The same figure of the floor: what the machine does to everybody is nobody's failure, though it misses the goal. */
  noise?: number;
  unit: "×" | "MB" | "ms" | "%";
}

/** Machines differ: missing a goal is shown, only missing it twice over is a failure. */
const FAIL_BEYOND = 2;

/** Returns how many rows failed. */
export function report(rows: Row[]): number {
  const cells = rows.map((row) => [
    row.what,
    row.ours,
    row.floor,
    `${row.value.toFixed(2)} ${row.unit}`,
    Number.isFinite(row.goal) ? `≤ ${Number(row.goal.toFixed(2))} ${row.unit}` : "-",
    verdict(row),
  ]);
  const table = [["what", "ours", "floor", "figure", "goal", ""], ...cells];
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  for (const row of table)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  return rows.filter((row) => verdict(row) === "FAILED").length;
}

function verdict({ value, goal, noise = 0 }: Row): string {
  if (!Number.isFinite(goal)) return "";
  if (value <= goal) return "ok";
  return value <= FAIL_BEYOND * Math.max(goal, noise) ? "over the goal" : "FAILED";
}

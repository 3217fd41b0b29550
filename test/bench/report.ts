/** One figure: ours against a floor that was measured beside it, in turn with it, in the same run. */
export interface Row {
  what: string;
  ours: string;
  floor: string;
  /** Ours in floors; of one core, where the floor is a core. */
  value: number;
  /** The value that the figure shall have at most, or at least; null where nothing was promised. */
  goal: number | null;
  isAtLeast?: true;
  /** The value at which the run fails, where the goal is known to be missed by more than half: docs/bench.md says why. */
  failAt?: number;
  /** The same figure of the floor: what the machine does to everybody is nobody's failure, though it misses the goal. */
  noise?: number;
  /** The same figure of the least program that does the same work, which has a row of its own below: nobody gets below it. */
  least?: number;
  /** The row is such a least program's, and is judged by nobody. */
  isLeast?: true;
  unit?: "×" | "%";
  /** How far the floor's own measurements lie apart: its 90th percentile in medians, or its largest in smallest ones. */
  spread: number;
}

/** Machines differ: missing a goal is shown, and only missing it by half is a failure. */
const FAIL_BEYOND = 1.5;

/** From here on the machine was too busy to trust one measurement. */
export const SPREAD_HIGH = 1.15;

export type Verdict = "ok" | "over the goal" | "FAILED" | "the least" | "";

/** How much of the goal was used up: 1 is the goal itself, whichever side of it is the good one. */
export function shareOfGoal({ value, goal, isAtLeast, noise = 0 }: Row): number {
  if (goal === null) return 0;
  return isAtLeast ? goal / value : value / Math.max(goal, noise);
}

export function verdictOf(row: Row): Verdict {
  if (row.isLeast) return "the least";
  if (row.goal === null) return "";
  const isMet = row.isAtLeast ? row.value >= row.goal : row.value <= row.goal;
  if (isMet) return "ok";
  const { value, isAtLeast } = row;
  return (isAtLeast ? value < failureAt(row) : value > failureAt(row)) ? "FAILED" : "over the goal";
}

/** A bound that is named, else half more than the goal; and never less than half more than the least that anybody needs. */
function failureAt({ goal, failAt, isAtLeast, noise = 0, least }: Row): number {
  if (isAtLeast) return Math.min(failAt ?? (goal ?? 0) / FAIL_BEYOND, (least ?? Infinity) / FAIL_BEYOND);
  return Math.max(failAt ?? FAIL_BEYOND * Math.max(goal ?? 0, noise), FAIL_BEYOND * (least ?? 0));
}

/** The row of the least program that does the work of some others, which are judged by it; with the others before it. */
export function withLeast(rows: readonly Row[], { what, ours, value }: Pick<Row, "what" | "ours" | "value">): Row[] {
  const [first] = rows;
  if (first === undefined) return [];
  const { floor, spread, unit } = first;
  const least: Row = { what, ours, floor, value, goal: null, isLeast: true, spread, ...(unit && { unit }) };
  return [...rows.map((row) => ({ ...row, least: value })), least];
}

/** The cells of a row, as the terminal and docs/bench.md show them. */
export function cellsOf(row: Row): string[] {
  const { what, ours, floor, value, goal, isAtLeast, spread, unit = "×" } = row;
  const sign = isAtLeast ? "≥" : "≤";
  const promised = goal === null ? "-" : `${sign} ${Number(goal.toFixed(2))} ${unit}`;
  return [what, ours, floor, `${value.toFixed(2)} ${unit}`, promised, `${spread.toFixed(2)} ×`, verdictOf(row)];
}

export const COLUMNS = ["what", "ours", "floor", "figure", "goal", "spread of the floor", ""];

export function print(rows: readonly Row[]): void {
  const table = [COLUMNS, ...rows.map(cellsOf)];
  const widths = COLUMNS.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  for (const row of table) {
    const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    console.log(cells.join("  ").trimEnd());
  }
}

import { AltScreen } from "./alt-screen.ts";
import { columnsOf, cutToColumns } from "../table/columns.ts";
import { oneLine } from "../table/doing-table.ts";
import type { Output, Paint } from "../output.ts";

export interface PickList {
  title: string;
  /** The cells of each line. */
  rows: readonly (readonly string[])[];
  /** The lines that are marked to begin with, where several can be picked. */
  marked?: readonly number[];
  /** Why a line cannot be marked, by its number; where several can be picked. */
  refusals?: ReadonlyMap<number, string>;
}

/** Has a person pick one line; null when they leave without. */
export async function pickOne(list: PickList, out: Output): Promise<number | null> {
  const [only] = (await pick(list, false, out)) ?? [];
  return only ?? null;
}

/** Has a person pick any number of lines, in their order; null when they leave without. */
export async function pickSeveral(list: PickList, out: Output): Promise<number[] | null> {
  return pick(list, true, out);
}

interface PickState {
  at: number;
  marked: Set<number>;
  /** Why the last key did nothing. */
  notice: string;
}

async function pick(list: PickList, several: boolean, out: Output): Promise<number[] | null> {
  const state: PickState = { at: 0, marked: new Set(list.marked), notice: "" };
  const done = Promise.withResolvers<number[] | null>();
  const screen = new AltScreen((key) => {
    if (key === "q" || key === "escape") return done.resolve(null);
    if (key === "enter") return done.resolve(several ? [...state.marked].toSorted((a, b) => a - b) : [state.at]);
    onPickKey(state, key, list, several);
    paint();
  });
  const paint = (): void =>
    screen.show(() => {
      const size = { rows: process.stdout.rows || 24, columns: out.columns };
      return pickFrame(list, state, several, size, out.paint);
    });
  try {
    paint();
    return await done.promise;
  } finally {
    screen.close();
  }
}

function onPickKey(state: PickState, key: string, { rows, refusals }: PickList, several: boolean): void {
  const count = rows.length;
  state.notice = "";
  const steps: Readonly<Record<string, number>> = { up: -1, k: -1, down: 1, j: 1, home: -count, end: count };
  state.at = Math.max(0, Math.min(count - 1, state.at + (steps[key] ?? 0)));
  if (!several) return;
  if (key === " ") {
    const refusal = refusals?.get(state.at);
    if (refusal !== undefined) state.notice = refusal;
    else if (!state.marked.delete(state.at)) state.marked.add(state.at);
  } else if (key === "a") {
    const free = Array.from({ length: count }, (_, at) => at).filter((at) => !refusals?.has(at));
    state.marked = new Set(state.marked.size === free.length ? [] : free);
  }
}

/** Draws the list around the line that the keys are about. */
function pickFrame(
  { title, rows: cells }: PickList,
  { at, marked, notice }: PickState,
  several: boolean,
  { rows, columns }: { rows: number; columns: number },
  paint: Paint,
): string {
  const width = Math.max(1, columns - 1);
  const keys = several ? "↑ ↓ select  Space mark  a all  Enter done  q none" : "↑ ↓ select  Enter done  q none";
  const lines = aligned(cells).map((line, index) => {
    const box = several ? (marked.has(index) ? "[x] " : "[ ] ") : "";
    const text = cutToColumns(`${index === at ? "› " : "  "}${box}${line}`, width);
    return index === at ? paint.bold(text) : text;
  });
  const visible = Math.max(1, Math.min(lines.length, rows - 2));
  const from = Math.max(0, Math.min(at - Math.floor(visible / 2), lines.length - visible));
  const shown = [paint.bold(cutToColumns(oneLine(title), width)), ...lines.slice(from, from + visible)];
  const foot =
    notice === "" ? paint.dim(cutToColumns(keys, width)) : paint.yellow(cutToColumns(oneLine(notice), width));
  return [...shown, foot].slice(0, Math.max(1, rows)).join("\n");
}

/** Joins the cells of each line, all columns but the last as wide as their widest cell. */
function aligned(rows: readonly (readonly string[])[]): string[] {
  const texts = rows.map((row) => row.map(oneLine));
  const widths = (texts[0] ?? []).map((_, column) => Math.max(...texts.map((row) => columnsOf(row[column] ?? ""))));
  return texts.map((row) =>
    row
      .map((text, column) => text + " ".repeat((widths[column] ?? 0) - columnsOf(text)))
      .join("  ")
      .trimEnd(),
  );
}

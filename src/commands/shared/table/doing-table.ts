import { DOING_COLUMNS_MIN, PLACE_COLUMNS_MAX, SIGN_COLUMNS_MIN, STATE_COLUMNS_MIN } from "../../../limits/index.ts";
import { branchOf } from "../../../project/worktree/current-branch.ts";
import type { WorkerSummary } from "../../../protocol/records/worker.ts";
import { columnsOf, cutToColumns } from "./columns.ts";
import { printable, type Paint } from "../output.ts";
import { age, table, type Cell } from "./table.ts";
import { mailCell, orDash, stateCell, vendorCell, workerNote } from "./worker-table.ts";

export interface DoingTableOptions {
  /** Shows addresses (`project/name`) in place of names. */
  addresses?: boolean;
  /** The width of the terminal. */
  columns: number;
  /** The root of the caller's project: folders are shown from there. */
  root: string | null;
}

/** Adds to each worker the branch that is checked out in its folder. */
export function withBranches<T extends WorkerSummary>(workers: readonly T[]): T[] {
  const branches = new Map<string, string | null>();
  return workers.map((worker) => {
    const { folder } = worker;
    if (folder === undefined) return worker;
    const branch = branches.get(folder) ?? branchOf(folder);
    branches.set(folder, branch);
    return branch === null ? worker : { ...worker, branch };
  });
}

/**
 * Formats the workers for a person at a terminal: what each is doing, in one line as wide as the terminal. Columns in which nothing
 * stands are left out; then, where it is narrow, those that matter least.
 */
export function doingTable(workers: readonly WorkerSummary[], paint: Paint, options: DoingTableOptions): string | null {
  if (workers.length === 0) return null;
  const { columns } = options;
  const all = allColumns(withBranches(workers), paint, options);
  let kept = all.filter(({ cells, always }) => always === true || cells.some(({ text }) => text !== "-"));
  const doing = workers.map((worker) => doingCell(worker, paint));
  const least = Math.min(DOING_COLUMNS_MIN, Math.max(...doing.map(({ text }) => columnsOf(text))));
  if (columns < SIGN_COLUMNS_MIN) kept = kept.slice(0, 1);
  for (const title of LEAST_IMPORTANT) {
    if (widthOf(kept) + least <= columns) break;
    kept = kept.filter((each) => each.title !== title);
  }
  const room = Math.max(1, columns - widthOf(kept.slice(1)));
  const rows = workers.map((_, row) => [
    ...kept.map(({ cells }, at) => cut(cells[row], at === 0 ? room : PLACE_COLUMNS_MAX)),
    doing[row] ?? "",
  ]);
  const titles = kept.map(({ title }, at) => (at === 0 ? cutToColumns(title, room) : title));
  return table([...titles, ""], rows, paint.dim, columns);
}

interface Column {
  title: string;
  cells: Cell[];
  /** The column stays although nothing stands in it. */
  always?: true;
}

const LEAST_IMPORTANT = ["WIN", "FOLDER", "BRANCH", "UP ", "VENDOR", "MAIL"];

function allColumns(workers: readonly WorkerSummary[], paint: Paint, options: DoingTableOptions): Column[] {
  const { addresses = false, columns, root } = options;
  const short = columns < STATE_COLUMNS_MIN;
  const column = (title: string, cell: (worker: WorkerSummary) => Cell): Column => ({
    title,
    cells: workers.map(cell),
  });
  return [
    {
      ...column("NAME", (worker) => ({ text: addresses ? worker.address : worker.name, paint: paint.bold })),
      always: true,
    },
    column("WIN", ({ window }) => orDash(window === undefined ? null : String(window), paint)),
    column("VENDOR", (worker) => vendorCell(worker, paint)),
    {
      ...column(short ? "" : "STATE", (worker) => {
        const cell = stateCell(worker, paint);
        return short ? { ...cell, text: cell.text.slice(0, 1) } : cell;
      }),
      always: true,
    },
    column("UP ", ({ run }) => orDash(run && age(run.startedAt), paint)),
    column("MAIL", (worker) => mailCell(worker, paint)),
    column("BRANCH", ({ branch }) => orDash(branch ?? null, paint)),
    column("FOLDER", ({ folder }) => orDash(folder === undefined ? null : shownFolder(folder, root), paint)),
  ];
}

/** Shows a folder from the project's root; nothing for the root itself. */
function shownFolder(folder: string, root: string | null): string | null {
  if (root !== null && folder === root) return null;
  if (root !== null && folder.startsWith(`${root}/`)) return folder.slice(root.length + 1);
  const home = process.env.HOME;
  return home && folder.startsWith(`${home}/`) ? `~${folder.slice(home.length)}` : folder;
}

/** Says what a worker waits for or how it ended, else what was said last in its conversation. */
function doingCell(worker: WorkerSummary, paint: Paint): Cell {
  const note = workerNote(worker);
  const needs = worker.attention !== null || worker.state === "blocked";
  if (needs) return { text: oneLine(note), paint: paint.yellow };
  const { words = "" } = worker;
  return { text: oneLine([note, words].filter(Boolean).join(": ")), paint: paint.dim };
}

/** Escapes a text so that it stays on its line, and in its terminal. */
export function oneLine(text: string): string {
  return printable(text).replaceAll("\n", "\\n");
}

function cut(cell: Cell | undefined, columns: number): Cell {
  const { text, ...rest } = cell ?? { text: "" };
  return { ...rest, text: cutToColumns(oneLine(text), columns) };
}

/** The columns that these take, with the gap behind each. */
function widthOf(columns: readonly Column[]): number {
  return columns.reduce((sum, { title, cells }) => {
    const widths = cells.map(({ text }) => Math.min(PLACE_COLUMNS_MAX, columnsOf(oneLine(text))));
    return sum + Math.max(columnsOf(title), ...widths) + 2;
  }, 0);
}

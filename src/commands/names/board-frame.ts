import { ROOMY_ROWS_MIN } from "../../limits/index.ts";
import type { WorkerSummary } from "../../protocol/records/worker.ts";
import type { AttentionItem } from "../shared/table/attention-list.ts";
import { columnsOf, cutToColumns } from "../shared/table/columns.ts";
import { doingTable, oneLine } from "../shared/table/doing-table.ts";
import type { Paint } from "../shared/output.ts";
import { signLegend } from "../shared/table/worker-table.ts";

export interface BoardState {
  title: string;
  /** In the order of the list. */
  workers: readonly WorkerSummary[];
  /** The address of the worker that the keys are about. */
  selected: string | null;
  needs: readonly AttentionItem[];
  /** The next sensible command, where nobody needs anything. */
  next: string;
  addresses: boolean;
  root: string | null;
  view: BoardView;
  /** The result of the last key. */
  notice: string;
  /** The keys that leave a worker's terminal; null where they would leave nothing. */
  leaving: string | null;
  /** There is no daemon: what is shown is as it was when there was one. */
  lost: boolean;
}

type BoardView =
  | { kind: "list" }
  /** `from` is the first line that is shown. */
  | { kind: "help"; from: number }
  /** A question that `y` answers. */
  | { kind: "question"; text: string }
  /** The end of a worker's terminal; `above` lines are below the ones that are shown. */
  | { kind: "peek"; address: string; lines: readonly string[]; above: number };

export interface ScreenSize {
  rows: number;
  columns: number;
}

/** Draws the board, a line for each row of the terminal at most, and none wider than it. */
export function boardFrame(state: BoardState, { rows, columns }: ScreenSize, paint: Paint): string {
  // The terminal's last column stays free: clearing the rest of a full line would take its last character.
  const size = { rows, columns: Math.max(1, columns - 1) };
  const foot = rows >= 2 ? [footLine(state, size.columns, paint)] : [];
  const room = rows - foot.length;
  const body = bodyOf(state, { ...size, rows: room }, paint);
  const shown = body.slice(0, room);
  return [...shown, ...Array.from({ length: room - shown.length }, () => ""), ...foot].join("\n");
}

function bodyOf(state: BoardState, size: ScreenSize, paint: Paint): string[] {
  const { view } = state;
  if (view.kind === "help") return helpLines(state, size.columns, paint).slice(view.from);
  return view.kind === "peek" ? peekLines(view, size, paint) : listLines(state, size, paint);
}

/** Lists the workers around the selected one, and below them who needs somebody, as far as there is room. */
function listLines(state: BoardState, { rows, columns }: ScreenSize, paint: Paint): string[] {
  const { workers, addresses, root, needs, next } = state;
  const roomy = rows >= ROOMY_ROWS_MIN;
  const head = rows >= 4 ? [cutPainted(oneLine(state.title), columns, paint.bold), ...(roomy ? [""] : [])] : [];
  const mark = columns < NARROW ? "" : MARK;
  const table = doingTable(workers, paint, { addresses, root, columns: columns - mark.length });
  if (table === null) return [...head, cutPainted("No workers here yet.", columns, paint.dim)];
  const [header = "", ...lines] = table.split("\n");
  const titles = rows >= 5 ? [`${" ".repeat(mark.length)}${header}`] : [];
  const visible = Math.min(lines.length, Math.max(1, rows - head.length - titles.length));
  const at = workers.findIndex(({ address }) => address === state.selected);
  const from = Math.max(0, Math.min(at - Math.floor(visible / 2), lines.length - visible));
  const blank = " ".repeat(mark.length);
  const marked = lines.map((line, index) => (index === at ? `${paint.cyan(mark)}${line}` : `${blank}${line}`));
  const list = [...head, ...titles, ...marked.slice(from, from + visible)];
  const more = needs.length > 0 ? needLines(needs, columns, paint) : nextLines(next, columns, paint);
  const below = rows - list.length - 1;
  return below >= 2 && more.length > 0 ? [...list, "", ...more.slice(0, below)] : list;
}

const MARK = "› ";
/** Columns below which there is room for names only. */
const NARROW = 8;

/** Lists who needs somebody, with the command for it. */
function needLines(needs: readonly AttentionItem[], columns: number, paint: Paint): string[] {
  const width = Math.max(...needs.map(({ name }) => name.length));
  const commands = Math.max(...needs.map(({ command }) => command.length));
  const lines = needs.map(
    ({ name, why, command }) => `  ${name.padEnd(width)}  ${command.padEnd(commands)}  ${oneLine(why)}`,
  );
  return ["Needs you", ...lines].map((line) => cutPainted(line, columns, paint.yellow));
}

function nextLines(next: string, columns: number, paint: Paint): string[] {
  return next === "" ? [] : [cutPainted(`→ ${next}`, columns, paint.dim)];
}

function peekLines(
  { address, lines, above }: Extract<BoardView, { kind: "peek" }>,
  { rows, columns }: ScreenSize,
  paint: Paint,
): string[] {
  const visible = Math.max(1, rows - 1);
  const end = Math.max(Math.min(visible, lines.length), lines.length - above);
  const shown = lines.slice(Math.max(0, end - visible), end).map((line) => cutToColumns(oneLine(line), columns));
  return [cutPainted(address, columns, paint.bold), ...shown];
}

function footLine(state: BoardState, columns: number, paint: Paint): string {
  const { view, notice, selected, lost, workers, needs } = state;
  if (view.kind === "question") return cutPainted(`${oneLine(view.text)} [y/N]`, columns, paint.yellow);
  if (notice !== "") return cutPainted(oneLine(notice), columns, paint.yellow);
  if (lost) return cutPainted(LOST, columns, paint.yellow);
  if (view.kind === "help") return cutPainted("↑ ↓ scroll  any other key goes back", columns, paint.dim);
  if (view.kind === "peek") return cutPainted("↑ ↓ scroll  Enter attach  q back", columns, paint.dim);
  const worker = workers.find(({ address }) => address === selected) ?? null;
  return cutPainted(fitting(listKeys(worker, needs.length > 0), columns), columns, paint.dim);
}

/** Says that what is shown is not current. */
export const LOST = "The daemon has exited: this is how it was. The next command starts it again.";

/** A key in the last line; where there is little room, those with the highest number are left out first. */
type FootKey = readonly [text: string, leftOut: number];

/** Lists the keys that do something for a worker as it is. */
function listKeys(worker: WorkerSummary | null, isNeeded: boolean): FootKey[] {
  const always: FootKey[] = [["q quit", 0]];
  if (worker === null) return [["? help", 1], ...always];
  const isInPane = worker.mode === "tmux" && worker.run !== null;
  const main: FootKey[] = isInPane || worker.mode === "turn" ? [["Enter attach", 2]] : [];
  return [
    ["? help", 1],
    ...main,
    ...(worker.run === null && worker.mode !== "turn" ? ([["u bring up", 2]] as const) : []),
    ...(isNeeded ? ([["n needs you", 3]] as const) : []),
    ["s send", 4],
    ...(isInPane ? ([["r restart", 6]] as const) : []),
    ["l logs", 5],
    ...always,
  ];
}

function fitting(keys: readonly FootKey[], columns: number): string {
  const text = keys.map(([words]) => words).join(GAP);
  if (columnsOf(text) <= columns || keys.length === 1) return text;
  const last = Math.max(...keys.map(([, leftOut]) => leftOut));
  return fitting(
    keys.filter(([, leftOut]) => leftOut !== last),
    columns,
  );
}

const GAP = "  ";

/** The keys, in words, and in few words for a narrow terminal; those that matter most first. */
const HELP: readonly (readonly [keys: string, does: string, short: string])[] = [
  ["Enter", "attach to its terminal", "attach"],
  ["q, Ctrl-C", "quit; the workers go on", "quit; workers go on"],
  ["↑ ↓, k j", "select a worker (Home, End, Page Up, Page Down too)", "select a worker"],
  ["n", "go to the next worker that needs you", "the next that needs you"],
  ["u", "bring it up (perdure up)", "bring it up"],
  ["s", "send it a message", "send it a message"],
  ["l", "look at the end of its terminal", "look at its terminal"],
  ["r", "restart it, in its conversation if it has one; asks first", "restart it; asks first"],
  ["Ctrl-Z", "suspend; fg comes back", "suspend; fg comes back"],
];

/** Counts the lines that the help takes. */
export function helpLength(state: BoardState, columns: number): number {
  return helpLines(state, Math.max(1, columns - 1), NO_PAINT).length;
}

const same = (text: string): string => text;
const NO_PAINT: Paint = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };

/** Lists the keys, and below them what the signs of the states mean; how to come back stands where nothing cuts it. */
function helpLines({ leaving }: BoardState, columns: number, paint: Paint): string[] {
  const back: (typeof HELP)[number] | null =
    leaving === null ? null : [leaving, "leaves that terminal again, and comes back here", "comes back here"];
  const rows = HELP.flatMap((row) => (row[0] === "Enter" && back !== null ? [row, back] : [row]));
  const width = Math.max(...rows.map(([keys]) => columnsOf(keys)));
  const isWide = Math.max(...rows.map(([, does]) => width + GAP.length + columnsOf(does))) <= columns;
  const keyLines = rows.map(([keys, does, short]) => {
    return `${keys}${" ".repeat(width - columnsOf(keys))}${GAP}${isWide ? does : short}`;
  });
  const signLines = signLegend().map(([sign, states]) => `${sign}${GAP}${states}`);
  return [
    cutPainted("Keys", columns, paint.bold),
    ...keyLines.map((line) => cutToColumns(line, columns)),
    cutPainted("Signs", columns, paint.bold),
    ...signLines.map((line) => cutToColumns(line, columns)),
  ];
}

function cutPainted(text: string, columns: number, tone: (text: string) => string): string {
  return tone(cutToColumns(text, columns));
}

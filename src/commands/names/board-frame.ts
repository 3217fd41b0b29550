import { ROOMY_ROWS_MIN } from "../../limits/index.ts";
import type { WorkerSummary } from "../../protocol/records/worker.ts";
import type { AttentionItem } from "../shared/table/attention-list.ts";
import { cutToColumns } from "../shared/table/columns.ts";
import { doingTable, oneLine } from "../shared/table/doing-table.ts";
import type { Paint } from "../shared/output.ts";

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
  | { kind: "help" }
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
  const body =
    state.view.kind === "help" ? helpLines(state, size.columns, paint) : bodyOf(state, { ...size, rows: room }, paint);
  const shown = body.slice(0, room);
  return [...shown, ...Array.from({ length: room - shown.length }, () => ""), ...foot].join("\n");
}

function bodyOf(state: BoardState, size: ScreenSize, paint: Paint): string[] {
  return state.view.kind === "peek" ? peekLines(state.view, size, paint) : listLines(state, size, paint);
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

function footLine({ view, notice, selected, lost }: BoardState, columns: number, paint: Paint): string {
  if (view.kind === "question") return cutPainted(`${oneLine(view.text)} [y/N]`, columns, paint.yellow);
  if (notice !== "") return cutPainted(oneLine(notice), columns, paint.yellow);
  if (lost) return cutPainted(LOST, columns, paint.yellow);
  if (view.kind === "help") return cutPainted("any key goes back", columns, paint.dim);
  const keys = view.kind === "peek" ? PEEK_KEYS : selected === null ? NO_KEYS : LIST_KEYS;
  return cutPainted(keys, columns, paint.dim);
}

/** Says that what is shown is not current. */
export const LOST = "The daemon has exited: this is how it was. The next command starts it again.";

const LIST_KEYS = "? help  Enter attach  n needs you  s send  r restart  l logs  q quit";
const PEEK_KEYS = "↑ ↓ scroll  Enter attach  q back";
const NO_KEYS = "? help  q quit";

const HELP: readonly (readonly [keys: string, does: string])[] = [
  ["↑ ↓, k j", "select a worker (Home, End, Page Up, Page Down too)"],
  ["n", "select the next worker that needs you"],
  ["Enter", "attach to its terminal"],
  ["s", "send it a message"],
  ["l", "look at the end of its terminal"],
  ["u", "bring it up (perdure up)"],
  ["r", "restart it in its conversation; asks first"],
  ["Ctrl-Z", "suspend; fg comes back"],
  ["q, Ctrl-C", "quit; the workers go on"],
];

function helpLines({ leaving }: BoardState, columns: number, paint: Paint): string[] {
  const back = leaving === null ? "" : `; ${leaving} leaves it again, and comes back here`;
  const width = Math.max(...HELP.map(([keys]) => keys.length));
  return [
    paint.bold(cutToColumns("Keys", columns)),
    ...HELP.map(([keys, does]) => helpLine(keys.padEnd(width), keys === "Enter" ? `${does}${back}` : does)),
  ].map((line, at) => (at === 0 ? line : cutToColumns(line, columns)));
}

function helpLine(keys: string, does: string): string {
  return `${keys}  ${does}`;
}

function cutPainted(text: string, columns: number, tone: (text: string) => string): string {
  return tone(cutToColumns(text, columns));
}

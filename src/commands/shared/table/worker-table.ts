import { NAME_CHARS_MAX } from "../../../limits/index.ts";
import { own } from "../../../util/own.ts";
import { shownHint } from "../../../protocol/hint.ts";
import type { TurnRecord } from "../../../protocol/records/run.ts";
import type { WorkerState, WorkerSummary } from "../../../protocol/records/worker.ts";
import type { Paint } from "../output.ts";
import { age, shortId, table, type Cell } from "./table.ts";

export interface WorkerTableOptions {
  /** Shows addresses (`project/name`) in place of names. */
  addresses?: boolean;
  /** Adds pid, run and the name of the conversation. */
  long?: boolean;
  /** The width of the terminal. */
  columns?: number;
}

/**
 * Orders workers by address, numbers by their value: coder-2 comes before coder-10. Addresses are ASCII, so the language's own order
 * is not asked for: it makes a collator for every two that it compares, and for fifty workers took as long as the rest of `ls`.
 */
export function inOrderOfNames(workers: readonly WorkerSummary[]): WorkerSummary[] {
  const keyed = workers.map((worker) => ({ worker, key: orderKey(worker.address) }));
  return keyed.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ worker }) => worker);
}

function orderKey(address: string): string {
  return address.toLowerCase().replaceAll(/[0-9]+/g, (digits) => digits.padStart(NAME_CHARS_MAX, "0"));
}

/** Formats the table of `ls`; null without workers. */
export function workerTable(
  workers: readonly WorkerSummary[],
  paint: Paint,
  options: WorkerTableOptions = {},
): string | null {
  if (workers.length === 0) return null;
  const { addresses = false, long = false, columns = Infinity } = options;
  const rows = workers.map((worker): Cell[] => [
    { text: addresses ? worker.address : worker.name, paint: paint.bold },
    vendorCell(worker, paint),
    stateCell(worker, paint),
    orDash(worker.run && age(worker.run.startedAt), paint),
    orDash(worker.generation === 0 ? null : String(worker.generation), paint),
    conversationCell(worker, paint),
    mailCell(worker, paint),
    ...(long ? longCells(worker, paint) : []),
    {
      text: workerNote(worker),
      paint: worker.attention === null && worker.state !== "blocked" ? paint.dim : paint.yellow,
    },
  ]);
  const header = ["NAME", "VENDOR", "STATE", "UP ", "GEN", "CONVERSATION", "MAIL", ...(long ? LONG_HEADER : []), ""];
  return table(header, rows, paint.dim, columns);
}

const LONG_HEADER = ["PID", "RUN", "CALLED"];

function longCells({ run, session }: WorkerSummary, paint: Paint): Cell[] {
  return [run && String(run.pid), run && run.id, session?.name ?? null].map((text) => orDash(text, paint));
}

/** Says what is unusual about a worker, what it waits for, or how its last run ended. */
export function workerNote(worker: WorkerSummary): string {
  if (worker.attention !== null) return worker.attention + inBrackets(shownHint(worker));
  if (worker.state === "blocked") return "waits for your answer";
  if (worker.lastTurn) return turnNote(worker.lastTurn);
  const end = worker.lastEnd;
  if (end === null) return "";
  const ago = `${age(end.at)} ago`;
  if (end.reason === "stopped") return ago;
  const how = end.exit === null || end.exit > 128 ? end.reason : `${end.reason} ${end.exit}`;
  return worker.state === "backing-off" ? `${how}; restarts by itself` : `${how}, ${ago}`;
}

/** Says of the last turn what came of it, how long it took, and how long ago that is. */
function turnNote({ ask, startedAt, ms, outcome }: TurnRecord): string {
  const took = `${Math.max(1, Math.round(ms / 1000))} s`;
  if (outcome === null) return ask === null ? `reads its mail, for ${took}` : `answers ${ask}, for ${took}`;
  const ended = new Date(Date.parse(startedAt) + ms).toISOString();
  return `last turn ${outcome} in ${took}, ${age(ended)} ago`;
}

function inBrackets(hint: string | null): string {
  return hint === null ? "" : ` (${hint})`;
}

export function orDash(text: string | null, paint: Paint): Cell {
  return text === null ? { text: "-", paint: paint.dim } : { text };
}

/** Shows how many messages are on their way, and how many questions were read and not answered. */
export function mailCell({ unread, unanswered = 0 }: WorkerSummary, paint: Paint): Cell {
  const counts = [unread > 0 ? String(unread) : null, unanswered > 0 ? `${unanswered} to answer` : null];
  const text = counts.filter((each) => each !== null).join(", ");
  return text === "" ? { text: "-", paint: paint.dim } : { text, paint: paint.cyan };
}

export function vendorCell({ vendor, unproved }: WorkerSummary, paint: Paint): Cell {
  if (unproved === null) return orDash(vendor, paint);
  return { text: `${vendor} (unproved)`, paint: paint.yellow };
}

/** Shows a state by a sign as well as a colour, because not everybody sees both. */
export function stateCell(worker: WorkerSummary, paint: Paint): Cell {
  // A daemon of another version may report a state that this version does not know.
  const [sign, tone] = own(STATE_SIGNS, worker.state) ?? (["◆", "waiting"] as const);
  const unusual = worker.attention !== null && worker.run !== null;
  return { text: `${sign} ${worker.state}`, paint: unusual ? paint.yellow : TONES[tone](paint) };
}

const TONES = {
  quiet: (paint: Paint) => paint.dim,
  alive: () => (text: string) => text,
  ready: (paint: Paint) => (text: string) => paint.dim(paint.green(text)),
  working: (paint: Paint) => paint.green,
  coming: (paint: Paint) => paint.cyan,
  waiting: (paint: Paint) => paint.yellow,
  broken: (paint: Paint) => paint.red,
} as const;

const STATE_SIGNS: Readonly<Record<WorkerState, readonly [sign: string, tone: keyof typeof TONES]>> = {
  stopped: ["○", "quiet"],
  paused: ["○", "quiet"],
  starting: ["◌", "coming"],
  running: ["●", "alive"],
  idle: ["●", "ready"],
  busy: ["●", "working"],
  asleep: ["○", "ready"],
  turning: ["●", "working"],
  blocked: ["◆", "waiting"],
  "on-hold": ["◆", "waiting"],
  displaced: ["◌", "waiting"],
  "backing-off": ["◌", "waiting"],
  "crash-looping": ["✗", "broken"],
  unresumable: ["✗", "broken"],
};

/** Lists the signs, each with the states that it stands for. */
export function signLegend(): [sign: string, states: string][] {
  const bySign = Map.groupBy(Object.entries(STATE_SIGNS), ([, [sign]]) => sign);
  return [...bySign].map(([sign, states]) => [sign, states.map(([state]) => state).join(", ")]);
}

/** Shows a conversation with a mark: proved, not proved yet, or the agent is in another one. */
function conversationCell({ session }: WorkerSummary, paint: Paint): Cell {
  if (session === null) return { text: "-", paint: paint.dim };
  const [mark, tone] = MARKS[String(session.proved) as `${typeof session.proved}`];
  const id = shortId(session.id);
  return {
    text: `${id} ${mark}`,
    paint: (text) => (tone === "red" ? paint.red(text) : `${paint.dim(id)} ${paint[tone](text.slice(id.length + 1))}`),
  };
}

const MARKS = { true: ["✓", "green"], pending: ["?", "yellow"], false: ["✗", "red"] } as const;

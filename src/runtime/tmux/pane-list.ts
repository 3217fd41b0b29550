import { constants, hostname } from "node:os";
import { PANE_TITLE_CHARS_MAX } from "../../limits/index.ts";
import type { ControlClient } from "./control-client.ts";

export interface Pane {
  /** `%12`: tmux's own, never given twice by one server. */
  id: string;
  pid: number;
  dead: boolean;
  /** How it ended, where tmux knows: it may have missed it. */
  exitStatus: number | null;
  exitSignal: number | null;
  /** The session's name; sessionName(project) makes it. */
  session: string;
  /** `@3`. */
  window: string;
  windowIndex: number;
  windowName: string;
  /** The group the window is for. */
  group: string | null;
  /** Null: somebody's own pane, or the keeper's. */
  workerId: string | null;
  run: string | null;
  /** What its program calls itself; empty if it never did. */
  title: string;
}

/** Free texts are quoted by tmux, so that no `|` of theirs is bare. The title may be cut inside an escape; the blank mends it. */
const ROW = [
  "#{pane_id}",
  "#{pane_pid}",
  "#{pane_dead}",
  "#{pane_dead_status}",
  "#{pane_dead_signal}",
  "#{q:session_name}",
  "#{window_id}",
  "#{window_index}",
  "#{q:window_name}",
  "#{q:@perdure_group}",
  "#{q:@perdure_worker}",
  "#{q:@perdure_run}",
  `#{q;=${PANE_TITLE_CHARS_MAX}:pane_title} `,
];

/** One pane, as list-panes prints it on a line; rows can also follow each other without one. */
const PANE_ROW = ROW.map((field) => `${field}|`).join("");

/** The rows of every pane of the server, in one text: for a subscription, which knows only one session's panes by itself. */
export const ALL_PANES = `#{S:#{W:#{P:${PANE_ROW}}}}`;

/** Every pane of the server, now. */
export async function listPanes(client: ControlClient): Promise<Pane[]> {
  const { panes, serverPid } = await readPanes(client);
  if (!panes.some(isEndUnknown)) return panes;
  // tmux 3.3a misses a child's end now and then: the next signal makes it look, and it was just this process that answered.
  process.kill(serverPid, "SIGCHLD");
  return (await readPanes(client)).panes;
}

async function readPanes(client: ControlClient): Promise<{ panes: Pane[]; serverPid: number }> {
  const [rows = [], [pid = ""] = []] = await client.send(
    ["list-panes", "-a", "-F", PANE_ROW],
    ["display-message", "-p", "#{pid}"],
  );
  return { panes: parsePanes(rows.join("")), serverPid: Number(pid) };
}

/** A window that two sessions share is listed twice; a pane is one pane. */
export function parsePanes(text: string): Pane[] {
  const fields = unquote(text);
  const panes = new Map<string, Pane>();
  for (let at = 0; at + ROW.length <= fields.length; at += ROW.length) {
    const pane = paneOf(fields.slice(at, at + ROW.length));
    panes.set(pane.id, pane);
  }
  return [...panes.values()];
}

/** It has ended, and tmux has not noticed how. */
export function isEndUnknown({ dead, exitStatus, exitSignal }: Pane): boolean {
  return dead && exitStatus === null && exitSignal === null;
}

function paneOf(fields: string[]): Pane {
  const [
    id = "",
    pid,
    dead,
    status,
    signal,
    session = "",
    window = "",
    windowIndex,
    windowName = "",
    group,
    worker,
    run,
    title = "",
  ] = fields;
  return {
    id,
    pid: Number(pid),
    dead: dead === "1",
    exitStatus: status ? Number(status) : null,
    exitSignal: signalNumber(signal ?? ""),
    session,
    window,
    windowIndex: Number(windowIndex),
    windowName,
    group: group || null,
    workerId: worker || null,
    run: run || null,
    title: titleOf(title.slice(0, -1)),
  };
}

/** Until a program gives one, tmux shows the machine's name. */
function titleOf(title: string): string {
  return title === hostname() ? "" : title;
}

/** A number on Linux, a name (`kill`) where the system has names. */
function signalNumber(text: string): number | null {
  if (text === "") return null;
  if (/^\d+$/.test(text)) return Number(text);
  const numbers: Readonly<Record<string, number>> = constants.signals;
  return numbers[`SIG${text.toUpperCase().replace(/^SIG/, "")}`] ?? null;
}

/** The fields of a text in which `|` ends one and a backslash takes away the meaning of what follows. */
function unquote(text: string): string[] {
  const fields: string[] = [];
  let field = "";
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === "\\") {
      at += 1;
      field += text[at] ?? "";
    } else if (char === "|") {
      fields.push(field);
      field = "";
    } else field += char;
  }
  return fields;
}

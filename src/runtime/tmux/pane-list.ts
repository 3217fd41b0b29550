import { constants, hostname } from "node:os";
import { PANE_TITLE_CHARS_MAX } from "../../limits/index.ts";
import type { ControlClient } from "./control-client.ts";
import { IS_FIRST_OF_GROUP, PROJECT_SESSION } from "./views.ts";

export interface Pane {
  /** tmux's own id, such as `%12`, which one server never gives twice. */
  id: string;
  /** The pid of the pane's process; 0 where it would be one of another pid namespace. */
  pid: number;
  dead: boolean;
  /** The exit status; null where tmux missed the end. */
  exitStatus: number | null;
  exitSignal: number | null;
  /** The name of the session, made by tmuxSessionName(project). */
  session: string;
  /** tmux's id of the window, such as `@3`. */
  window: string;
  windowIndex: number;
  windowName: string;
  /** The group that the window belongs to. */
  group: string | null;
  /** The worker; null for a pane that a person opened and for that of the control session. */
  workerId: string | null;
  run: string | null;
  /** The title that the program set; empty if it never did. */
  title: string;
}

/** The fields of a pane. tmux quotes free texts, so that no `|` in them is bare; a blank ends a title cut inside an escape. */
const ROW = [
  "#{pane_id}",
  "#{pane_pid}",
  "#{pane_dead}",
  "#{pane_dead_status}",
  "#{pane_dead_signal}",
  PROJECT_SESSION,
  "#{window_id}",
  "#{window_index}",
  "#{q:window_name}",
  "#{q:@perdure_group}",
  "#{q:@perdure_worker}",
  "#{q:@perdure_run}",
  `#{q;=${PANE_TITLE_CHARS_MAX}:pane_title} `,
];

/** The format of one pane, which list-panes prints on a line; rows can also follow each other without line breaks. */
const PANE_ROW = ROW.map((field) => `${field}|`).join("");

/** The format of all panes of the server in one text, for a subscription, which covers only one session by itself. */
export const ALL_PANES = `#{S:#{?${IS_FIRST_OF_GROUP},#{W:#{P:${PANE_ROW}}},}}`;

/** Lists every pane of the server. */
export async function listPanes(client: ControlClient): Promise<Pane[]> {
  const { panes, serverPid } = await readPanes(client);
  if (client.serverElsewhere !== null) return panes.map((pane) => ({ ...pane, pid: 0 }));
  if (!panes.some(isEndUnknown)) return panes;
  // tmux 3.3a sometimes misses the end of a child; another SIGCHLD makes it check. The pid is safe: it just answered.
  process.kill(serverPid, "SIGCHLD");
  return (await readPanes(client)).panes;
}

async function readPanes(client: ControlClient): Promise<{ panes: Pane[]; serverPid: number }> {
  const [rows = [], [pid = ""] = []] = await client.send(
    ["list-panes", "-a", "-F", `#{?${IS_FIRST_OF_GROUP},${PANE_ROW},}`],
    ["display-message", "-p", "#{pid}"],
  );
  return { panes: parsePanes(rows.join("")), serverPid: Number(pid) };
}

/** Parses rows of panes; a pane of a window that two sessions share is listed twice and returned once. */
export function parsePanes(text: string): Pane[] {
  const fields = unquote(text);
  const panes = new Map<string, Pane>();
  for (let at = 0; at + ROW.length <= fields.length; at += ROW.length) {
    const pane = paneOf(fields.slice(at, at + ROW.length));
    panes.set(pane.id, pane);
  }
  return [...panes.values()];
}

/** True for a pane whose process has ended in a way that tmux has not noticed. */
function isEndUnknown({ dead, exitStatus, exitSignal }: Pane): boolean {
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

/** Returns the title that a program set; until then tmux shows the machine's name. */
function titleOf(title: string): string {
  return title === hostname() ? "" : title;
}

/** Reads a signal: a number on Linux, a name such as `kill` elsewhere. */
function signalNumber(text: string): number | null {
  if (text === "") return null;
  if (/^\d+$/.test(text)) return Number(text);
  const numbers: Readonly<Record<string, number>> = constants.signals;
  return numbers[`SIG${text.toUpperCase().replace(/^SIG/, "")}`] ?? null;
}

/** Splits a text into fields: `|` ends a field, and a backslash escapes the next character. */
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

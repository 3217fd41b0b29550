import { isFolder } from "../../state/files.ts";
import { PANE_COMMAND_BYTES_MAX } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { literal } from "./quote.ts";
import { shellWords } from "../../util/shell-quote.ts";
import { PROJECT_OPTION } from "./views.ts";

// The tmux commands that start a worker's process, each as a list of words.

export interface StartRequest {
  /** The project's slug. */
  project: string;
  /** The worker's name. */
  worker: string;
  /** The worker's id, which stays when it is renamed. */
  workerId: string;
  /** The group, whose workers share a window. */
  group: string | null;
  run: string;
  /** The place of the worker's window in the session, and the last place that is kept for any; the next free one if left out. */
  window?: { index: number | null; last: number };
  /** The variables that mark the process from its first instant; the wrapper sets the rest of the environment. */
  env: Readonly<Record<string, string>>;
  cwd: string;
  argv: readonly string[];
}

/** A pane whose process has ended, with the options that were set on it alone. */
export interface EndedPane {
  pane: string;
  options: ReadonlyMap<string, string>;
}

/** Throws at a request that tmux would misunderstand or silently change. */
export function checkStart({ argv, cwd, env, worker }: StartRequest): void {
  const bytes = [...argv, ...Object.entries(env).flat()].reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0);
  if (argv.length === 0 || argv[0] === "") throw new PerdureError("usage", `${worker} has no program to start.`);
  if (bytes > PANE_COMMAND_BYTES_MAX) {
    throw new PerdureError(
      "usage",
      `The command of ${worker} has ${bytes} bytes; the limit is ${PANE_COMMAND_BYTES_MAX}.`,
    );
  }
  // tmux would start the program in the home folder instead.
  if (!isFolder(cwd)) {
    throw new PerdureError("not-found", `${cwd} is not a folder, so ${worker} cannot be started in it.`, {
      hint: shellWords(["ls", "-ld", cwd]),
    });
  }
}

/** Creates a session with the worker's window, and marks it in the same line, so that no crash leaves it unmarked. */
export function newSessionCommands(request: StartRequest, index: number): string[][] {
  const session = tmuxSessionName(request.project);
  // tmux gives the first window the first place, whatever is asked for.
  const move = ["move-window", "-s", `=${session}:`, "-t", `=${session}:${index}`];
  return [
    ["new-session", "-d", "-s", session, ...windowArguments(request)],
    ["set-option", "-t", `=${session}:`, "--", PROJECT_OPTION, request.project],
    // A new session keeps the variables of its first process, but windows that a person opens must not carry our marks.
    ...Object.keys(request.env).map((name) => ["set-environment", "-t", `=${session}`, "-u", name]),
    ...markCommands(request, `=${session}:`),
    ...(index === FIRST_WINDOW_INDEX ? [] : [move]),
  ];
}

/** The index of a session's first window: `base-index`, unless somebody changed it. */
export const FIRST_WINDOW_INDEX = 1;

/** Creates a window at an index; tmux refuses one that is taken, so the right window is marked. */
export function newWindowCommands(request: StartRequest, index: number): string[][] {
  const target = `=${tmuxSessionName(request.project)}:${index}`;
  return [["new-window", "-d", "-t", target, ...windowArguments(request)], ...markCommands(request, target)];
}

/** Names a pane of a group; the window has the name of the group. */
export function nameGroupPane(worker: string, pane: string): string[][] {
  return [["set-option", "-p", "-t", pane, "--", "@perdure_name", worker]];
}

/** Marks a window as that of a group, so that other members find it. */
export function makeGroupWindow(group: string, pane: string): string[][] {
  return [
    ["set-option", "-w", "-t", pane, "--", "@perdure_group", group],
    ["set-option", "-w", "-t", pane, "pane-border-status", "top"],
    ["rename-window", "-t", pane, "--", literal(group)],
  ];
}

/** The pane's option with the words below it, and the one that tells that the window has a border for them. */
export const SAYS_OPTION = "@perdure_says";
const BORDER_OPTION = "@perdure_border";

/** Makes room for words below a pane that has its window for itself, or takes it away when there are none any more. */
export function borderCommands(pane: string, says: string, saidBefore: string): string[][] {
  if ((says === "") === (saidBefore === "")) return [];
  if (says === "") return removeBorder(pane);
  return [
    ["set-option", "-p", "-t", pane, BORDER_OPTION, "on"],
    ["set-option", "-w", "-t", pane, "pane-border-status", "bottom"],
  ];
}

function removeBorder(pane: string): string[][] {
  return [
    ["set-option", "-p", "-u", "-t", pane, BORDER_OPTION],
    ["set-option", "-w", "-u", "-t", pane, "pane-border-status"],
  ];
}

export function joinGroupWindow(pane: string, groupPane: string): string[][] {
  return [
    ["join-pane", "-d", "-s", pane, "-t", groupPane],
    ["select-layout", "-t", groupPane, "tiled"],
  ];
}

/**
 * Starts the process in place of an ended pane: in a new pane, made in a window of its own at this index, that takes the ended
 * pane's place with its size, its focus and its zoom. tmux 3.3a to 3.7 can crash when a pane is respawned while a control-mode
 * client, such as iTerm2's, reads its output; a client could attach at any time, so no pane is ever respawned.
 */
export function replacePaneCommands(request: StartRequest, ended: EndedPane, index: number): string[][] {
  const place = `=${tmuxSessionName(request.project)}:${index}`;
  const kept = [...ended.options].filter(([name]) => name !== SAYS_OPTION && name !== BORDER_OPTION);
  const options = kept.map(([name, value]) => ["set-option", "-p", "-t", place, "--", name, value]);
  const [newWindow = [], ...marks] = newWindowCommands(request, index);
  return [
    newWindow,
    ...options,
    ...marks,
    ...(ended.options.has(BORDER_OPTION) ? removeBorder(ended.pane) : []),
    ["swap-pane", "-d", "-Z", "-s", place, "-t", ended.pane],
    ["kill-pane", "-t", ended.pane],
  ];
}

/** Returns the name of a project's tmux session, unique per slug, without `.` and `:`, which have a meaning in tmux. */
export function tmuxSessionName(project: string): string {
  const safe = project.replace(/^_|[^A-Za-z0-9._-]/gu, (char) => `~${char.codePointAt(0)?.toString(16)}~`);
  return safe.replaceAll(".", "+") || "~";
}

const PANE_AND_PID = "#{pane_id} #{pane_pid}";

function windowArguments(request: StartRequest): string[] {
  return ["-n", literal(request.worker), "-P", "-F", PANE_AND_PID, ...processArguments(request)];
}

function processArguments({ cwd, env, argv }: StartRequest): string[] {
  const variables = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  return ["-c", literal(cwd), ...variables, "--", ...withoutShell(argv)];
}

/** Wraps a command of a single word, which tmux would hand to a shell; several words are a program and its arguments. */
function withoutShell(argv: readonly string[]): readonly string[] {
  return argv.length === 1 ? ["/bin/sh", "-c", 'exec "$0"', ...argv] : argv;
}

function markCommands({ workerId, run }: StartRequest, target: string): string[][] {
  return [
    ["set-option", "-p", "-t", target, "--", "@perdure_worker", workerId],
    ["set-option", "-p", "-t", target, "--", "@perdure_run", run],
  ];
}

import { PerdureError } from "../../protocol/errors.ts";
import { commandText, verb } from "../../protocol/hint.ts";
import { anyShellWords, shellWords } from "../../util/shell-quote.ts";
import { NESTED_PREFIX_OPTION } from "./options.ts";
import { literal } from "./quote.ts";
import { PROJECT_OPTION, viewName } from "./views.ts";

export interface AttachRequest {
  /** The caller's TMUX variable, which is set inside any tmux and tells which one. */
  insideTmux: string | undefined;
  /** The path of the tmux program. */
  file: string;
  /** The socket of our own server. */
  socket: string;
  /** The session, the window and the id of the worker's pane, as listed. */
  session: string;
  window: string;
  pane: string;
  /** The folder in which windows open that a person makes there; null for that of the caller. */
  folder: string | null;
  /** The project's slug, and the worker's name. */
  project: string;
  worker: string;
  /** This terminal; or, inside the caller's own tmux, a popup or a window of that. */
  where: "here" | "popup" | "window";
  /** The prefix key of our own server, and that of the tmux around the caller; null where that is not known. */
  prefix: string;
  outerPrefix: string | null;
}

export interface AttachPlan {
  argv: string[];
  /** The variables that are removed from the program's environment. */
  unset: string[];
  /** A notice that is printed before the program starts. */
  notice: string | null;
  /** Whether the caller is inside our own server, where no window or popup of another one is opened. */
  isOurs: boolean;
}

/** Plans the command of `attach` for a caller at a plain terminal, in our own server, or in another tmux. */
export function attachPlan(request: AttachRequest): AttachPlan {
  const { insideTmux, file, socket, where, worker } = request;
  // TMUX is `socket,pid,session`; the path may contain a comma.
  const outerSocket = insideTmux ? insideTmux.replace(/,\d+,\d+$/, "") : null;
  if (outerSocket === socket)
    return { argv: [file, "-S", socket, ...switchToPane(request)], unset: [], notice: null, isOurs: true };
  if (outerSocket === null && where !== "here") {
    throw new PerdureError("usage", `You are not inside tmux, so no ${where} can be opened.`, {
      hint: verb("attach", worker),
    });
  }
  const keys = outerSocket === null ? [] : nestedPrefixOption(request);
  const attach = (pid: string): string[] => [file, "-u", "-N", "-S", socket, ...keys, ...openView(request, pid)];
  if (where === "here") {
    const notice = outerSocket === null ? null : nestedNotice(request);
    return { argv: attach(String(process.pid)), unset: NESTING_VARIABLES, notice, isOurs: false };
  }
  // The shell is the program that tmux replaces, and tells its pid.
  const words = ["env", ...NESTING_VARIABLES.flatMap((name) => ["-u", name]), ...attach(PID_IN_SHELL)];
  const inner = `exec ${shellWords(words).replaceAll(PID_IN_SHELL, () => `'"$$"'`)}`;
  const open =
    where === "popup"
      ? ["display-popup", "-E", "-w", "90%", "-h", "90%"]
      : ["new-window", "-n", worker.replaceAll("#", "##")];
  const mark = where === "window" ? [";", "set-option", "-w", WINDOW_OPTION, `${request.project}/${worker}`] : [];
  return {
    argv: [file, ...open, `exec ${anyShellWords(["sh", "-c", inner])}`, ...mark],
    unset: [],
    notice: null,
    isOurs: false,
  };
}

/** The option of a window of the user's own tmux with the address of the worker for which it was opened. */
export const WINDOW_OPTION = "@perdure_attached";

/** Stands for the pid of the shell in words that it is yet to read, and makes them quoted. */
const PID_IN_SHELL = " pid ";

/** tmux refuses to start inside another tmux while these are set. */
const NESTING_VARIABLES = ["TMUX", "TMUX_PANE"];

/**
 * Attaches to a view of the project's session, so that each terminal looks at a window of its own, and shows the pane in it. The
 * window is selected before, so that no other one gets the size of this terminal. The program that does so, and stays, has this pid.
 */
function openView({ session, window, pane, folder, project }: AttachRequest, pid: string): string[] {
  const view = viewName(session, pid);
  const inFolder = folder === null ? [] : ["-c", literal(folder)];
  const commands = [
    ["new-session", "-A", "-d", "-E", ...inFolder, "-t", `=${session}`, "-s", view],
    ["set-option", "-t", `=${view}:`, "--", PROJECT_OPTION, project],
    ["select-window", "-t", `=${view}:${window}`],
    ["select-pane", "-t", pane],
    ["attach-session", "-t", `=${view}:`],
  ];
  return commands.flatMap((command, index) => (index === 0 ? command : [";", ...command]));
}

/** Goes to the pane from within our server, which gives the terminal a view there. */
function switchToPane({ session, window, pane }: AttachRequest): string[] {
  return ["select-pane", "-t", pane, ";", "switch-client", "-t", `=${session}:${window}`];
}

/** Sets whether the prefix must be pressed twice: an outer tmux with our prefix takes the first one, a popup takes none. */
function nestedPrefixOption({ prefix, outerPrefix, where }: AttachRequest): string[] {
  return ["set-option", "-g", NESTED_PREFIX_OPTION, outerPrefix === prefix && where !== "popup" ? "on" : "off", ";"];
}

function nestedNotice({ worker, prefix, outerPrefix }: AttachRequest): string {
  const key = keyText(prefix);
  return [
    "You are inside your own tmux, and the worker's tmux opens within it.",
    outerPrefix === null || outerPrefix === prefix
      ? `Yours takes the first ${key}: ${key} ${key} d leaves the worker's, and ${key} d would detach your own.`
      : `${key} d leaves it again.`,
    `To open it separately: ${commandText(verb("attach", worker, "--popup"))}, or --window.`,
  ].join("\n");
}

/** Writes a key of tmux's as people do: Ctrl-b for `C-b`. */
export function keyText(key: string): string {
  return key.replace(/^C-/, "Ctrl-").replace(/^M-/, "Alt-");
}

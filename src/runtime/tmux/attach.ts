import { PerdureError } from "../../protocol/errors.ts";
import { commandText, verb } from "../../protocol/hint.ts";
import { anyShellWords } from "../../util/shell-quote.ts";
import { NESTED_PREFIX_OPTION } from "./options.ts";

export interface AttachRequest {
  /** The caller's TMUX variable, which is set inside any tmux and tells which one. */
  insideTmux: string | undefined;
  /** The path of the tmux program. */
  file: string;
  /** The socket of our own server. */
  socket: string;
  /** The session and the id of the worker's pane, as listed. */
  session: string;
  pane: string;
  /** The worker's name. */
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
}

/** Plans the command of `attach` for a caller at a plain terminal, in our own server, or in another tmux. */
export function attachPlan(request: AttachRequest): AttachPlan {
  const { insideTmux, file, socket, where, worker } = request;
  // TMUX is `socket,pid,session`; the path may contain a comma.
  const outerSocket = insideTmux ? insideTmux.replace(/,\d+,\d+$/, "") : null;
  if (outerSocket === socket)
    return { argv: [file, "-S", socket, ...showPane(request, "switch-client")], unset: [], notice: null };
  if (outerSocket === null && where !== "here") {
    throw new PerdureError("usage", `You are not inside tmux, so no ${where} can be opened.`, {
      hint: verb("attach", worker),
    });
  }
  const keys = outerSocket === null ? [] : nestedPrefixOption(request);
  const attach = [file, "-u", "-S", socket, ...keys, ...showPane(request, "attach-session")];
  if (where === "here")
    return { argv: attach, unset: NESTING_VARIABLES, notice: outerSocket === null ? null : nestedNotice(request) };
  const inner = `exec ${anyShellWords(["env", ...NESTING_VARIABLES.flatMap((name) => ["-u", name]), ...attach])}`;
  const open =
    where === "popup"
      ? ["display-popup", "-E", "-w", "90%", "-h", "90%"]
      : ["new-window", "-n", worker.replaceAll("#", "##")];
  return { argv: [file, ...open, inner], unset: [], notice: null };
}

/** tmux refuses to start inside another tmux while these are set. */
const NESTING_VARIABLES = ["TMUX", "TMUX_PANE"];

/** Selects the pane by its id, wherever it was moved to, and the session by its exact name. */
function showPane({ session, pane }: AttachRequest, command: string): string[] {
  return ["select-window", "-t", pane, ";", "select-pane", "-t", pane, ";", command, "-t", `=${session}:`];
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

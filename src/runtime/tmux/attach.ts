import { PerdureError } from "../../protocol/errors.ts";
import { NESTED_PREFIX_OPTION } from "./options.ts";
import { anyShellWords } from "../../util/shell-quote.ts";

export interface AttachRequest {
  /** The caller's TMUX variable: set inside any tmux, and says which. */
  insideTmux: string | undefined;
  /** tmux itself, and our server's socket. */
  file: string;
  socket: string;
  /** What a pane of the listing says of itself. */
  session: string;
  pane: string;
  /** What people call the worker. */
  worker: string;
  /** In this terminal; or, inside the caller's own tmux, in a popup or a window of that. */
  where: "here" | "popup" | "window";
  /** The prefix of the tmux around the caller. */
  outerPrefix?: string | null;
}

export interface AttachPlan {
  argv: string[];
  /** Variables that the program must not see. */
  unset: string[];
  /** To be said before it starts. */
  notice: string | null;
}

/** What `attach` turns into, by where the caller is: at a plain terminal, in our own server, or in a tmux of theirs. */
export function attachPlan(request: AttachRequest): AttachPlan {
  const { insideTmux, file, socket, where, worker } = request;
  // `socket,pid,session`; a path may contain a comma.
  const outerSocket = insideTmux ? insideTmux.replace(/,\d+,\d+$/, "") : null;
  if (outerSocket === socket)
    return { argv: [file, "-S", socket, ...showPane(request, "switch-client")], unset: [], notice: null };
  if (outerSocket === null && where !== "here") {
    throw new PerdureError("usage", `There is no tmux around you to open a ${where} in.`, {
      hint: `perdure attach ${worker}`,
    });
  }
  const keys = outerSocket === null ? [] : nestedPrefixOption(request);
  const attach = [file, "-u", "-S", socket, ...keys, ...showPane(request, "attach-session")];
  if (where === "here")
    return { argv: attach, unset: NESTING_VARIABLES, notice: outerSocket === null ? null : nestedNotice(worker) };
  const inner = `exec ${anyShellWords(["env", ...NESTING_VARIABLES.flatMap((name) => ["-u", name]), ...attach])}`;
  const open =
    where === "popup"
      ? ["display-popup", "-E", "-w", "90%", "-h", "90%"]
      : ["new-window", "-n", worker.replaceAll("#", "##")];
  return { argv: [file, ...open, inner], unset: [], notice: null };
}

/** tmux refuses to start inside another as long as it sees these. */
const NESTING_VARIABLES = ["TMUX", "TMUX_PANE"];

/** The pane's id finds it wherever it was moved to; the session's name is exact. */
function showPane({ session, pane }: AttachRequest, command: string): string[] {
  return ["select-window", "-t", pane, ";", "select-pane", "-t", pane, ";", command, "-t", `=${session}:`];
}

/** A tmux with our prefix takes the first one for itself; a popup of it takes none. */
function nestedPrefixOption({ outerPrefix, where }: AttachRequest): string[] {
  return ["set-option", "-g", NESTED_PREFIX_OPTION, outerPrefix === "C-b" && where !== "popup" ? "on" : "off", ";"];
}

function nestedNotice(worker: string): string {
  return [
    "You are inside a tmux of your own, and this one opens in it: press your prefix twice to reach the inner one (twice, then d: leave).",
    `Or open it beside: perdure attach ${worker} --popup, or --window.`,
  ].join("\n");
}

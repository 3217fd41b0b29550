import { spawnSync } from "node:child_process";
import { TMUX_ANSWER_MS } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { attachPlan } from "../../runtime/tmux/attach.ts";
import { callDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { targetOf } from "../shared/here.ts";
import { isTerminal } from "../shared/output.ts";

export const attach: Command = {
  summary: "go to a worker's terminal",
  usage: "NAME [--popup | --window]",
  details: [
    "Ctrl-b d leaves the terminal again; the worker keeps running. The other workers of the project are the other windows.",
    "Inside a tmux of your own the terminal is nested, and the first Ctrl-b goes to the outer one: Ctrl-b Ctrl-b d leaves.",
  ].join("\n"),
  examples: ["perdure attach coder", "perdure attach coder --popup"],
  options: {
    popup: { about: "inside a tmux of your own: show it in a popup there" },
    window: { about: "inside a tmux of your own: show it in a window of its own there" },
  },
  completes: ["worker"],
  words: [1, 1],

  async run({ words, values, out }) {
    const pane = await callDaemon("findPane", { target: targetOf(words[0] ?? "") });
    if (out.json) return out.result(pane, () => "");
    if (!isTerminal(0)) {
      throw new PerdureError("usage", "attach needs a terminal.", { hint: `perdure logs ${words[0]}` });
    }
    const { tmux: file, socket, session, pane: id, address } = pane;
    const where = values.popup === true ? "popup" : values.window === true ? "window" : "here";
    const worker = address.slice(address.indexOf("/") + 1);
    const insideTmux = process.env.TMUX;
    const outerPrefix = insideTmux ? outerPrefixKey(file) : null;
    const plan = attachPlan({ insideTmux, outerPrefix, file, socket, session, pane: id, worker, where });
    if (plan.notice !== null) out.note(plan.notice);
    const env = Object.entries(process.env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !plan.unset.includes(entry[0]),
    );
    if (process.execve === undefined) throw new Error("this Node has no process.execve");
    process.execve(file, plan.argv, Object.fromEntries(env));
  },
};

/** Returns the prefix key of the surrounding tmux; null if that tmux does not answer. */
function outerPrefixKey(tmux: string): string | null {
  const options = { encoding: "utf8", timeout: TMUX_ANSWER_MS } as const;
  const { status, stdout } = spawnSync(tmux, ["show-options", "-gv", "prefix"], options);
  return status === 0 ? stdout.trim() : null;
}

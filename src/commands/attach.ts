import { PerdureError } from "../protocol/errors.ts";
import { attachPlan } from "../runtime/tmux/attach.ts";
import { ask } from "./call.ts";
import type { Command } from "./command.ts";
import { targetOf } from "./here.ts";
import { isTerminal } from "./output.ts";

export const attach: Command = {
  summary: "go to a worker's terminal",
  usage: "NAME [--popup | --window]",
  details: [
    "Ctrl-b d leaves it again; the worker stays. The other workers of the project are the other windows.",
    "Inside a tmux of your own it nests: every Ctrl-b has to be pressed twice. --popup shows it in a popup there, --window in",
    "a window of its own.",
  ].join("\n"),
  examples: ["perdure attach coder", "perdure attach coder --popup"],
  options: { popup: { type: "boolean" }, window: { type: "boolean" } },
  words: [1, 1],

  async run({ words, values, out }) {
    const pane = await ask("pane", { target: targetOf(words[0] ?? "") });
    if (out.json) return out.result(pane, () => "");
    if (!isTerminal(0)) {
      throw new PerdureError("usage", "There is no terminal here to attach.", { hint: `perdure logs ${words[0]}` });
    }
    const plan = attachPlan({
      env: process.env,
      tmux: pane.tmux,
      socket: pane.socket,
      session: pane.session,
      pane: pane.pane,
      popup: values.popup === true,
      window: values.window === true,
    });
    if (plan.note) out.note(plan.note);
    const [file = pane.tmux, ...args] = plan.argv;
    if (process.execve === undefined) throw new Error("this Node has no process.execve");
    process.execve(file, [file, ...args], plan.env);
  },
};

import { asPerdureError } from "../../protocol/errors.ts";
import { findTmux } from "../../runtime/tmux/find.ts";
import type { Command } from "../shared/command.ts";
import { playFleet } from "./fleet.ts";
import { nextSteps } from "./next-steps.ts";
import { playSingleAgent } from "./single-agent.ts";
import { Interrupted, Stage } from "./stage.ts";

export const demo: Command = {
  summary: "see agents killed, and back in their own conversations",
  usage: "",
  details: [
    "Three named agents are killed, with everything around them, and come back. Runs in a temporary folder with a state of",
    "its own: nothing of yours is touched and nothing is left behind, not even after Ctrl-C. The agents are built in and",
    "need no model. Exit 1 if something did not come back as it was.",
  ].join("\n"),
  examples: ["perdure demo"],
  words: [0, 0],

  async run({ out }) {
    const missing = whyNoTmux();
    const stage = new Stage(out);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stage.interrupt());
    try {
      if (missing !== null) stage.narrate(`${missing} Until then: one agent, in the foreground.`);
      const result = missing === null ? await playFleet(stage, out) : await playSingleAgent(stage, out);
      await stage.cleanUp();
      stage.narrate("Everything is cleaned up: agents, tmux, daemon, folder.");
      out.note(`\n${nextSteps(out.paint).join("\n")}`);
      out.result(result, () => "");
      return 0;
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
      out.note("\nInterrupted. Cleaning up...");
      return INTERRUPTED_EXIT;
    } finally {
      await stage.cleanUp();
    }
  },
};

const INTERRUPTED_EXIT = 130;

function whyNoTmux(): string | null {
  try {
    findTmux(process.env.PATH);
    return null;
  } catch (error) {
    const { message, hint } = asPerdureError(error);
    return `${message} (${hint})`;
  }
}

import { callDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { targetOf } from "../shared/here.ts";

export const pause: Command = {
  summary: "hold back a worker's mail, in order, until --off",
  usage: "NAME [--off]",
  details: "New mail is still accepted, and kept in order.",
  examples: ["perdure pause coder", "perdure pause coder --off"],
  options: { off: { about: "deliver again, what has waited first" } },
  completes: ["worker"],
  words: [1, 1],

  async run({ words, values, out }) {
    const result = await callDaemon("pause", { target: targetOf(words[0] ?? ""), on: values.off !== true });
    out.result(result, () => `${result.address}: delivery ${result.paused ? "paused" : "resumed"}`);
  },
};

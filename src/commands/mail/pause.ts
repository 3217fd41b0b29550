import { callDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { targetOf } from "../shared/here.ts";

export const pause: Command = {
  summary: "let a worker's mail wait; --off lets it through again",
  usage: "NAME [--off]",
  details: "Mail is still taken in, and kept in order.",
  examples: ["perdure pause coder", "perdure pause coder --off"],
  options: { off: { type: "boolean" } },
  words: [1, 1],

  async run({ words, values, out }) {
    const result = await callDaemon("pause", { target: targetOf(words[0] ?? ""), on: values.off !== true });
    out.result(result, () => `${result.address}: mail ${result.paused ? "waits" : "is delivered"}`);
  },
};

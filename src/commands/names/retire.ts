import { callDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { targetOf } from "../shared/here.ts";

export const retire: Command = {
  summary: "end a worker for good and free its name",
  usage: "NAME",
  details: [
    "Refused while the worker runs. A later worker of that name inherits nothing from this one. The old name of a renamed",
    "worker is freed the same way.",
  ].join("\n"),
  examples: ["perdure retire coder"],
  completes: ["worker"],
  words: [1, 1],

  async run({ words, out }) {
    const result = await callDaemon("retire", { target: targetOf(words[0] ?? "") });
    out.result(result, () => `${result.address} is retired; its name is free`);
  },
};

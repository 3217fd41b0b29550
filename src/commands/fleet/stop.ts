import type { Command } from "../shared/command.ts";
import { wholeNumber } from "../shared/arguments/parse.ts";
import { bringDown } from "./down.ts";

export const stop: Command = {
  summary: "stop a worker wherever it runs; its name and conversation stay",
  usage: "NAME… [--kill-after SECONDS]",
  details: [
    "The worker gets TERM, later KILL. One that was brought up stays down until `perdure up NAME`. The name of an entry",
    "with a `count` stands for all of its workers.",
  ].join("\n"),
  examples: ["perdure stop coder", "perdure stop coder --kill-after 30"],
  options: { "kill-after": { value: "SECONDS", about: "how long to wait between TERM and KILL (5)" } },
  completes: ["worker"],
  words: [1, 500],

  async run({ words, values, out }) {
    return bringDown(words, wholeNumber("--kill-after", values["kill-after"], { least: 0, most: 600 }), out);
  },
};

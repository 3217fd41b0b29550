import { callDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { projectOfRun, projectRefHere } from "../shared/here.ts";

export const forget: Command = {
  summary: "remove a saved session; the conversations stay",
  usage: "NAME",
  examples: ["perdure forget friday"],
  completes: ["saved"],
  words: [1, 1],

  async run({ words, out }) {
    const gone = await callDaemon("forget", { here: projectRefHere(), project: projectOfRun(), name: words[0] ?? "" });
    out.result(gone, () => `${gone.name} is no longer saved; its conversations are untouched`);
  },
};

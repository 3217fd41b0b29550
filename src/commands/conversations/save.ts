import { callDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { projectOfRun, projectRefHere } from "../shared/here.ts";

export const save: Command = {
  summary: "give one name to where every worker of this project is",
  usage: "[NAME]",
  details: [
    "Which conversation each worker is in, under one name. It follows them (`/clear`, --fresh) until another one is",
    "saved. Without NAME the active one is written anew, as it is now.",
  ].join("\n"),
  examples: ["perdure save friday", "perdure saved"],
  words: [0, 1],

  async run({ words, out }) {
    const saved = await callDaemon("save", { here: projectRefHere(), project: projectOfRun(), name: words[0] ?? null });
    const count = saved.workers.length;
    out.result(saved, () => `${saved.name}: ${count} worker${count === 1 ? "" : "s"}, followed from now on`);
  },
};

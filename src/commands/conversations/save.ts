import { callDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { projectOfRun, projectRefHere } from "../shared/here.ts";

export const save: Command = {
  summary: "save which conversation every worker is in, under one name",
  usage: "[NAME]",
  details: [
    "The saved session becomes the active one: it follows the workers to other conversations (`/clear`, --fresh) until",
    "another one is saved. Without NAME the active saved session is written again, as the workers are now.",
  ].join("\n"),
  examples: ["perdure save friday", "perdure saved"],
  completes: ["saved"],
  words: [0, 1],

  async run({ words, out }) {
    const saved = await callDaemon("save", { here: projectRefHere(), project: projectOfRun(), name: words[0] ?? null });
    const count = saved.workers.length;
    out.result(saved, () => `${saved.name}: ${count} worker${count === 1 ? "" : "s"}, followed from now on`);
  },
};

import { checkName } from "../../protocol/names.ts";
import { callDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { targetOf } from "../shared/here.ts";

export const rename: Command = {
  summary: "give a worker another name; the old name refers to the new one",
  usage: "OLD NEW",
  details: [
    "History, conversations and mail stay with the worker. A running program keeps its run and its token; its environment",
    "has the old name until it is restarted.",
  ].join("\n"),
  examples: ["perdure rename coder builder", "perdure rename api/coder builder"],
  words: [2, 2],

  async run({ words: [old = "", to = ""], out }) {
    const result = await callDaemon("rename", { target: targetOf(old), to: checkName(to) });
    out.result(result, () => `${result.from} is now ${result.address}`);
  },
};

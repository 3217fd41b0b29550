import { checkName } from "../../protocol/names.ts";
import { callDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { targetOf } from "../shared/here.ts";

export const rename: Command = {
  summary: "give a worker another name; the old one says where it went",
  usage: "OLD NEW",
  details: [
    "Its history stays with the worker. A program that runs meanwhile keeps its run and its token; its environment has",
    "the old name until it is started again.",
  ].join("\n"),
  examples: ["perdure rename coder builder", "perdure rename api/coder builder"],
  words: [2, 2],

  async run({ words: [old = "", to = ""], out }) {
    const result = await callDaemon("rename", { target: targetOf(old), to: checkName(to) });
    out.result(result, () => `${result.from} is now ${result.address}`);
  },
};

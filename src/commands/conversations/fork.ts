import { callDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { targetOf } from "../shared/here.ts";

export const fork: Command = {
  summary: "create a worker that begins as a branch of another's conversation",
  usage: "NAME NEW",
  details: [
    "NEW gets NAME's command and folder, and a conversation of its own that begins with everything said in NAME's until",
    "NEW is first started. NAME stays in its conversation, and may keep running.",
  ].join("\n"),
  examples: ["perdure fork coder coder-2 && perdure run coder-2"],
  completes: ["worker"],
  words: [2, 2],

  async run({ words, out }) {
    const [name = "", to = ""] = words;
    const forked = await callDaemon("fork", { target: targetOf(name), to });
    out.result(forked, () => `${forked.address} begins as a branch of ${forked.from}'s ${forked.vendor} conversation`);
    out.note(`→ perdure run ${to}`);
  },
};

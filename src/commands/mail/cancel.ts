import { callDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { messageIdArgument, senderRef } from "./mail-common.ts";

export const cancel: Command = {
  summary: "take back a message that nobody has read yet",
  usage: "ID",
  examples: ["perdure cancel k3m9xw2p"],
  words: [1, 1],

  async run({ words, out }) {
    const cancelled = await callDaemon("cancel", { ...senderRef(), id: messageIdArgument("cancel", words[0] ?? "") });
    out.result(cancelled, () => `${cancelled.id} is cancelled`);
  },
};

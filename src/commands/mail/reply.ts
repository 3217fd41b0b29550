import { callDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import {
  attachmentPaths,
  mailScope,
  messageBody,
  messageIdArgument,
  messageIdOption,
  senderRef,
} from "./mail-common.ts";

export const reply: Command = {
  summary: "reply to a message; without ID, to the only one that waits for a reply",
  usage: "[ID] TEXT [--attach FILE] [--file FILE] [--id NEW]",
  details: "The reply goes to the sender; if the sender does not run, the reply waits for its next run.",
  examples: ['perdure reply "yes, merge it"', 'perdure reply k3m9 "not yet"'],
  options: { attach: { type: "string", multiple: true }, file: { type: "string" }, id: { type: "string" } },
  words: [0, 2],

  async run({ words, values, out }) {
    const fromFile = typeof values.file === "string";
    const id = words.length === 2 || (fromFile && words.length === 1) ? (words[0] ?? null) : null;
    const replied = await callDaemon("reply", {
      ...senderRef(),
      ...mailScope(),
      id: id === null ? null : messageIdArgument("reply", id),
      body: messageBody(id === null ? words[0] : words[1], values, "reply"),
      messageId: messageIdOption(values),
      attach: attachmentPaths(values),
    });
    out.result(replied, () => `${replied.id}  ${replied.to}  replies to ${replied.replyTo}`);
  },
};

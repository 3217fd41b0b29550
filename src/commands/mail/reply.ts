import { callDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { findProjectHere } from "../shared/here.ts";
import {
  attachmentPaths,
  mailScope,
  messageBody,
  messageIdArgument,
  messageIdOption,
  noteIfOnlyPinned,
  senderRef,
} from "./mail-common.ts";

export const reply: Command = {
  summary: "reply to a message; without ID, to the only one that waits",
  usage: "[ID] TEXT [options]",
  details: "The reply goes to the sender; if the sender does not run, the reply waits for its next run.",
  examples: ['perdure reply "yes, merge it"', 'perdure reply k3m9 "not yet"'],
  options: {
    attach: { value: "FILE", multiple: true, about: "send a copy of this file along", completes: "file" },
    file: { value: "FILE", about: "the text is in this file, in place of TEXT", completes: "file" },
    id: { value: "NEW", about: "an id of your choice for the reply, which makes sending it again harmless" },
  },
  words: [0, 2],

  async run({ words, values, out }) {
    const found = findProjectHere();
    const fromFile = typeof values.file === "string";
    const id = words.length === 2 || (fromFile && words.length === 1) ? (words[0] ?? null) : null;
    const replied = await callDaemon("reply", {
      ...senderRef(),
      ...mailScope(found),
      id: id === null ? null : messageIdArgument("reply", id),
      body: messageBody(id === null ? words[0] : words[1], values, "reply"),
      messageId: messageIdOption(values),
      attach: attachmentPaths(values),
    });
    await noteIfOnlyPinned(found, out);
    out.result(replied, () => `${replied.id}  ${replied.to}  replies to ${replied.replyTo}`);
  },
};

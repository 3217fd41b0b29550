import { listFromDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { findProjectHere } from "../shared/here.ts";
import { noteIfOnlyPinned, senderRef, mailScope, messageText } from "./mail-common.ts";

export const pending: Command = {
  summary: "list the questions you have not answered",
  usage: "",
  examples: ["perdure pending", "perdure pending --json"],
  words: [0, 0],

  async run({ out }) {
    const found = findProjectHere();
    const { items } = await listFromDaemon("pending", { ...senderRef(), ...mailScope(found) });
    await noteIfOnlyPinned(found, out);
    out.result({ messages: items }, () => items.map((each) => messageText(each, out.paint)).join("\n"));
    out.note(items.length === 0 ? "Nobody is waiting for a reply." : "→ perdure reply ID TEXT");
  },
};

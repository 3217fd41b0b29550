import { callDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { printable } from "../shared/output.ts";
import { table } from "../shared/table.ts";
import { senderRef, messageText } from "./mail-common.ts";

export const mail: Command = {
  summary: "show one message and what became of it",
  usage: "ID [--redeliver]",
  details: "--redeliver queues a message again that expired, was cancelled or is dead. A unique prefix is enough.",
  examples: ["perdure mail k3m9xw2p", "perdure mail k3m9 --redeliver"],
  options: { redeliver: { type: "boolean" } },
  words: [1, 1],

  async run({ words, values, out }) {
    const id = words[0] ?? "";
    if (values.redeliver === true) await callDaemon("redeliver", { id });
    const found = await callDaemon("showMail", { ...senderRef(), id });
    out.result(found, () => {
      const rows = found.steps.map(({ state, at, run, reason }) => [state, at, run ?? "-", printable(reason ?? "")]);
      const steps = table(["STATE", "AT", "RUN", ""], rows, out.paint.dim);
      const answer = found.reply ? ["", messageText(found.reply, out.paint)] : [];
      return [messageText(found.message, out.paint, true), `  to ${found.message.to}`, "", steps, ...answer].join("\n");
    });
  },
};

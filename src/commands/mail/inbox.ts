import { connectToDaemon } from "../../client/connect.ts";
import { EXTRA_WAIT_MS, LIST_ROWS_MAX, OFFERS_PER_CALL, WAIT_HOURS_MAX } from "../../limits/index.ts";
import type { MessageRecord } from "../../protocol/records/mail.ts";
import type { Command } from "../shared/command.ts";
import { targetOf } from "../shared/here.ts";
import { duration, wholeNumber } from "../shared/parse.ts";
import { senderRef, mailScope, messageText } from "./mail-common.ts";

export const inbox: Command = {
  summary: "read your mail, or look at a worker's",
  usage: "[NAME] [options]",
  details: [
    "Inside a worker this is the worker's mailbox, else the operator's, who is you. What is shown counts as read. With NAME",
    "you look at that worker's mail, and nothing counts as read.",
  ].join("\n"),
  examples: ["perdure inbox", "perdure inbox coder", "perdure inbox --wait 10m"],
  options: {
    peek: { about: "only look: nothing counts as read" },
    all: { short: "a", about: "what was read before, too; nothing counts as read" },
    wait: { value: "T", about: "if there is none, wait so long for mail, such as 30s or 10m" },
    limit: { value: "N", short: "n", about: "N messages at most" },
  },
  completes: ["worker"],
  words: [0, 1],

  async run({ words, values, out }) {
    const limit = wholeNumber("--limit", values.limit, { least: 1, most: LIST_ROWS_MAX }) ?? OFFERS_PER_CALL;
    const reader = { ...senderRef(), ...mailScope() };
    const target = words[0] === undefined ? null : targetOf(words[0], reader.here);
    const all = values.all === true;
    const isPeek = target !== null || all || values.peek === true;
    const client = await connectToDaemon();
    try {
      const found = isPeek
        ? await client.collect("peekMail", { ...reader, target, all, limit })
        : { items: await takeMail(limit), result: { paused: false } };
      out.result({ messages: found.items }, () =>
        found.items.map((each) => messageText(each, out.paint, isPeek)).join("\n"),
      );
      if (found.result.paused) out.note("Paused: nothing is delivered until perdure pause NAME --off");
      if (found.items.length === 0) out.note("No mail.");
      // Acknowledged only after they were shown; a message that was not shown is offered again.
      const ids = isPeek ? [] : found.items.map(({ id }) => id);
      if (ids.length > 0) await client.call("ack", { ...senderRef(), ids, how: "read" });
    } finally {
      client.close();
    }

    async function takeMail(most: number): Promise<MessageRecord[]> {
      const waitMs = duration("--wait", values.wait, WAIT_HOURS_MAX) ?? 0;
      const max = Math.min(most, OFFERS_PER_CALL);
      // An empty list has messages that an earlier call of this run could not show offered again, first. The operator has
      // no run, so there an offered message may be on another terminal.
      const inHand = process.env.PERDURE_TOKEN ? { inHand: [] } : {};
      return (await client.call("takeMail", { ...reader, max, waitMs, ...inHand }, waitMs + EXTRA_WAIT_MS)).messages;
    }
  },
};

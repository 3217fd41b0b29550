import { connect } from "../../client/connect.ts";
import { LIST_ROWS_MAX, OFFERS_PER_CALL } from "../../limits/index.ts";
import type { MessageRecord } from "../../protocol/records/mail.ts";
import type { Command } from "../shared/command.ts";
import { targetOf } from "../shared/here.ts";
import { senderRef, mailScope, messageText } from "./mail-common.ts";
import { duration, wholeNumber } from "../shared/parse.ts";

export const inbox: Command = {
  summary: "your mail; as the operator also anybody else's, without taking it",
  usage: "[NAME] [--peek] [--all] [--wait T] [--limit N]",
  details: [
    "What is shown is read, unless --peek. In a worker it is the worker's box; for the operator, the operator's, and",
    "with NAME a look into that worker's, which takes nothing. --all shows what was read before, too.",
  ].join("\n"),
  examples: ["perdure inbox", "perdure inbox coder", "perdure inbox --wait 10m"],
  options: {
    peek: { type: "boolean" },
    all: { type: "boolean", short: "a" },
    wait: { type: "string" },
    limit: { type: "string", short: "n" },
  },
  words: [0, 1],

  async run({ words, values, out }) {
    const limit = wholeNumber("--limit", values.limit, { least: 1, most: LIST_ROWS_MAX }) ?? OFFERS_PER_CALL;
    const who = { ...senderRef(), ...mailScope() };
    const target = words[0] === undefined ? null : targetOf(words[0], who.here);
    const all = values.all === true;
    const looks = target !== null || all || values.peek === true;
    const client = await connect();
    try {
      const found = looks
        ? await client.collect("peekMail", { ...who, target, all, limit })
        : { items: await taken(limit), result: { paused: false } };
      out.result({ messages: found.items }, () =>
        found.items.map((each) => messageText(each, out.paint, looks)).join("\n"),
      );
      if (found.result.paused) out.note("Paused: nothing is delivered until perdure pause NAME --off");
      if (found.items.length === 0) out.note("No mail.");
      // Only now that it was shown: what was not is offered again.
      const ids = looks ? [] : found.items.map(({ id }) => id);
      if (ids.length > 0) await client.call("ack", { ...senderRef(), ids, how: "read" });
    } finally {
      client.close();
    }

    async function taken(most: number): Promise<MessageRecord[]> {
      const waitMs = duration("--wait", values.wait) ?? 0;
      const max = Math.min(most, OFFERS_PER_CALL);
      // Nothing is in hand yet: what an earlier one of this run was offered and could not show comes again, and first. The
      // operator has no run of its own: what is on offer there may be in another's hands.
      const inHand = process.env.PERDURE_TOKEN ? { inHand: [] } : {};
      return (await client.call("takeMail", { ...who, max, waitMs, ...inHand }, waitMs + EXTRA_WAIT_MS)).messages;
    }
  },
};

const EXTRA_WAIT_MS = 10_000;

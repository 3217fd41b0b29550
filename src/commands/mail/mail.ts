import { EVENT_ROWS_DEFAULT, LIST_ROWS_MAX } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { nearest } from "../../protocol/names.ts";
import { MAIL_STATES, OPEN_STATES, type MailState, type MessageRecord } from "../../protocol/records/mail.ts";
import { callDaemon } from "../shared/call.ts";
import type { Command, Invocation } from "../shared/command.ts";
import { wholeNumber } from "../shared/arguments/parse.ts";
import { printable } from "../shared/output.ts";
import { age, table } from "../shared/table/table.ts";
import { listMail, mailScope, messageIdArgument, senderRef, messageText } from "./mail-common.ts";

export const mail: Command = {
  summary: "list mail by state, or show what became of one message",
  usage: "[ID] [options]",
  details: [
    "Without ID: the mail of all workers that is on its way (queued, offered, injected) or did not arrive (expired, dead), and",
    "the questions that were read and have no answer yet (`read, to answer`: TO is who has to answer, FROM who waits for it).",
    "With ID, of which a unique prefix is enough: the message and every state it was in.",
  ].join("\n"),
  examples: ["perdure mail", "perdure mail --state dead", "perdure mail k3m9xw2p", "perdure mail k3m9 --redeliver"],
  options: {
    redeliver: { about: "with ID: queue it again, after it expired, was cancelled or died" },
    state: {
      value: "STATE[,STATE…]",
      about: `only these states: ${MAIL_STATES.join(", ")}, or all`,
      completes: [...MAIL_STATES, "all"],
    },
    limit: { value: "N", short: "n", about: "N messages at most" },
  },
  words: [0, 1],

  async run({ words: [word], values, out }) {
    if (word === undefined) return list({ values, out });
    const id = messageIdArgument("mail", word);
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

async function list({ values, out }: Pick<Invocation, "values" | "out">): Promise<void> {
  if (values.redeliver === true) {
    throw new PerdureError("usage", "mail: --redeliver needs the ID of a message.", {
      hint: "perdure mail --state dead,expired; then: perdure mail ID --redeliver",
    });
  }
  const states = typeof values.state === "string" ? statesOf(values.state) : OPEN_STATES;
  const limit = wholeNumber("--limit", values.limit, { least: 1, most: LIST_ROWS_MAX }) ?? EVENT_ROWS_DEFAULT;
  const isOpen = states === OPEN_STATES;
  const { items } = await listMail({ ...mailScope(), states, before: null, limit }, isOpen);
  const header = ["ID", "STATE", "FROM", "TO", "AGE", "TEXT"];
  out.result({ messages: items }, () =>
    items.length === 0 ? "" : table(header, items.map(row), out.paint.dim, out.columns),
  );
  if (items.length === 0) out.note(isOpen ? NOTHING_OPEN : nothingIn(states));
  if (items.length === limit) out.note(`Showing the newest ${limit}; --limit shows more.`);
}

const NOTHING_OPEN =
  "No mail is on its way or undelivered, and no question waits for an answer. Earlier mail: perdure mail --state all";

function nothingIn(states: readonly MailState[]): string {
  return states.length === MAIL_STATES.length ? "No mail." : `No mail is ${either(states)}.`;
}

function row({ id, state, from, to, createdAt, body, expectsReply }: MessageRecord): string[] {
  return [
    id,
    state === "read" && expectsReply ? "read, to answer" : state,
    from,
    to,
    age(createdAt),
    body.split("\n", 1)[0] ?? "",
  ];
}

function statesOf(text: string): readonly MailState[] {
  if (text === "all") return MAIL_STATES;
  return text.split(",").map((word) => {
    const state = MAIL_STATES.find((each) => each === word);
    if (state) return state;
    const [near] = nearest(word, MAIL_STATES);
    throw new PerdureError("usage", `--state: ${JSON.stringify(word)} is not a state of a message.`, {
      hint: near ? `--state ${near}` : `--state ${MAIL_STATES.join(",")}`,
    });
  });
}

function either(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

import { connectToDaemon, type Client } from "../../client/connect.ts";
import { EXTRA_WAIT_MS, LIST_ROWS_MAX, OFFERS_PER_CALL, WAIT_HOURS_MAX } from "../../limits/index.ts";
import type { CallParams, Target } from "../../protocol/calls/index.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import { nameKey } from "../../protocol/names.ts";
import type { MessageRecord } from "../../protocol/records/mail.ts";
import { variableOf } from "../../util/environment.ts";
import type { Command } from "../shared/command.ts";
import { findProjectHere, targetOf } from "../shared/here.ts";
import type { Output } from "../shared/output.ts";
import { duration, wholeNumber } from "../shared/arguments/parse.ts";
import { onlyPinned, senderRef, mailScope, messageText } from "./mail-common.ts";
import type { PinnedWorker } from "./pinned.ts";

type Reader = Pick<CallParams<"takeMail">, "as" | "nested" | "here" | "project">;

/** The word for the operator's own mailbox, which a shell that is pinned to a worker has to name. */
const OPERATOR = "operator";

export const inbox: Command = {
  summary: "read your mail, or look at a worker's",
  usage: "[NAME] [options]",
  details: [
    "Inside a worker this is the worker's mailbox, else the operator's, who is you. What is shown counts as read. With NAME",
    "you look at that worker's mail, and nothing counts as read.",
    "",
    "In a shell that is pinned to a worker (perdure whoami) and is not its run, you look at that worker's mail, too;",
    "`perdure inbox operator` is your own.",
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

  async run({ words: [word], values, out }) {
    const limit = wholeNumber("--limit", values.limit, { least: 1, most: LIST_ROWS_MAX }) ?? OFFERS_PER_CALL;
    const found = findProjectHere();
    const reader = { ...senderRef(), ...mailScope(found) };
    const pinned = word === undefined ? await onlyPinned(found) : null;
    const isOwn = word === undefined || isOperator(word);
    const target = isOwn ? (pinned?.target ?? null) : targetOf(word, reader.here);
    const all = values.all === true;
    const isPeek = target !== null || all || values.peek === true;
    const waitMs = duration("--wait", values.wait, WAIT_HOURS_MAX);
    if (pinned !== null && waitMs !== null) throw noWaiting(pinned);
    const client = await connectToDaemon();
    try {
      const shown = isPeek
        ? await peek(client, { ...reader, target, all, limit }, pinned !== null)
        : { items: await takeMail(client, reader, limit, waitMs ?? 0), result: { paused: false } };
      out.result({ messages: shown.items }, () =>
        shown.items.map((each) => messageText(each, out.paint, isPeek)).join("\n"),
      );
      if (shown.result.paused) out.note("Paused: nothing is delivered until perdure pause NAME --off");
      if (shown.items.length === 0) out.note("No mail.");
      if (pinned !== null) await noteOperatorsMail(client, reader, pinned, out);
      // Acknowledged only after they were shown; a message that was not shown is offered again.
      const ids = isPeek ? [] : shown.items.map(({ id }) => id);
      if (ids.length > 0) await client.call("ack", { ...senderRef(), ids, how: "read" });
    } finally {
      client.close();
    }
  },
};

/** Tells whether a word is the operator's; a worker has its own mailbox, and the operator's is not its to read. */
function isOperator(word: string): boolean {
  return nameKey(word) === OPERATOR && variableOf(process.env, "PERDURE_TOKEN") === null;
}

interface Shown {
  items: MessageRecord[];
  result: { paused: boolean };
}

/** Lists a mailbox. A worker that is only pinned, and never ran, has none yet. */
async function peek(
  client: Client,
  params: Reader & { target: Target | null; all: boolean; limit: number },
  mayBeUnknown: boolean,
): Promise<Shown> {
  try {
    return await client.collect("peekMail", params);
  } catch (error) {
    if (!mayBeUnknown || !isPerdureError(error) || error.code !== "not-found") throw error;
    return { items: [], result: { paused: false } };
  }
}

async function takeMail(client: Client, reader: Reader, most: number, waitMs: number): Promise<MessageRecord[]> {
  const max = Math.min(most, OFFERS_PER_CALL);
  // An empty list has messages that an earlier call of this run could not show offered again, first. The operator has
  // no run, so there an offered message may be on another terminal.
  const inHand = variableOf(process.env, "PERDURE_TOKEN") === null ? {} : { inHand: [] };
  return (await client.call("takeMail", { ...reader, max, waitMs, ...inHand }, waitMs + EXTRA_WAIT_MS)).messages;
}

function noWaiting({ address, source }: PinnedWorker): PerdureError {
  return new PerdureError("usage", `inbox: --wait takes mail, and the mail of ${address} (${source}) is its run's.`, {
    hint: "perdure inbox operator --wait T waits for your own",
  });
}

/** Says who reads here, and how much of the operator's own mail this command leaves unread. */
async function noteOperatorsMail(client: Client, reader: Reader, pinned: PinnedWorker, out: Output): Promise<void> {
  out.note(`${pinned.note}; nothing counts as read`);
  const own = await client.collect("peekMail", { ...reader, target: null, all: false, limit: LIST_ROWS_MAX });
  const count = own.result.count;
  if (count > 0) out.note(`  ${count} ${count === 1 ? "message" : "messages"} to you: perdure inbox operator`);
}

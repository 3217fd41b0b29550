import { INBOX_TOOL_MESSAGES, TOOL_MAIL_BYTES_MAX } from "../../../limits/index.ts";
import { PerdureError } from "../../../protocol/errors.ts";
import { parseRecipient } from "../../../protocol/names.ts";
import { checkMessageText, type MessageRecord } from "../../../protocol/records/mail.ts";
import { objectSchema, textArgument, textField, type Arguments, type Tool, type ToolCall } from "../tool.ts";
import { handOverIfWhole, MARK, MESSAGE, messageOf } from "./messages.ts";
import { partsOf } from "./parts.ts";
import { declaredNames, ownMail } from "./place.ts";

const RECEIPT = objectSchema({
  id: textField(),
  to: textField(),
  state: textField("`queued`: it is on disk and will be delivered."),
  delivered: { type: ["string", "null"], description: "When it reaches that agent, as things are." },
});

export const sendTool: Tool = {
  name: "send",
  title: "Send mail",
  description:
    "Sends a message to another agent by name, running or not; it is delivered when that agent can take it. Does not wait for an answer.",
  readOnly: false,
  input: objectSchema(
    {
      to: textField("A name that `list` shows, `supervisor` (who started you), `operator` (the person), or `@all`."),
      text: textField("The message."),
      expectsReply: { type: "boolean", description: "Ask for a reply, which arrives later as mail." },
    },
    ["to", "text"],
  ),
  output: objectSchema({ messages: { type: "array", items: RECEIPT } }),
  async run(args, call) {
    const to = textArgument(args, "to");
    const toAll = to === "@all";
    const { project, name } = toAll ? { project: null, name: "" } : parseRecipient(to);
    const scope = ownMail(call);
    const { messages } = await call.dispatch("send", {
      ...scope,
      project: project ?? scope.project,
      to: toAll ? [] : [name],
      all: toAll,
      body: bodyOf(args),
      id: call.messageId,
      ttlMs: null,
      supersedes: null,
      expectsReply: args.expectsReply === true,
      attach: [],
      declared: declaredNames(call),
    });
    return {
      messages: messages.map(({ id, to: address, state, outlook }) => ({ id, to: address, state, delivered: outlook })),
    };
  },
};

export const replyTool: Tool = {
  name: "reply",
  title: "Reply to mail",
  description: "Replies to a message. Without an id, to the only message that waits for your reply.",
  readOnly: false,
  input: objectSchema({ text: textField("The reply."), id: textField("The id of the message that you answer.") }, [
    "text",
  ]),
  output: objectSchema({ id: textField(), to: textField(), replyTo: textField() }),
  async run(args, call) {
    const { id, to, replyTo } = await call.dispatch("reply", {
      ...ownMail(call),
      id: typeof args.id === "string" ? args.id : null,
      body: bodyOf(args),
      messageId: call.messageId,
      attach: [],
    });
    return { id, to, replyTo };
  },
};

export const inboxTool: Tool = {
  name: "inbox",
  title: "Read your mail",
  description:
    "Returns the messages that wait for you, and marks them as read. Mail also reaches you by itself, so there is no need to look again and again. A long message comes in parts, and is read with the last one.",
  readOnly: false,
  input: objectSchema(
    {
      peek: { type: "boolean", description: "Leave the messages unread." },
      id: textField("Only this message, also one that you have read."),
      part: { type: "integer", description: "With id: this part of a long message." },
    },
    [],
  ),
  output: objectSchema(
    {
      messages: { type: "array", items: MESSAGE },
      more: { type: "boolean", description: "More messages may wait: call again." },
      mark: MARK,
    },
    ["messages", "more"],
  ),
  async run(args, call) {
    const peeks = args.peek === true;
    if (args.id !== undefined || args.part !== undefined) return onePart(args, call, peeks);
    const waiting = peeks ? await peek(call) : [];
    const shown = peeks ? waiting.slice(0, countThatFit(waiting)) : await take(call);
    const more = (peeks ? waiting : await peek(call)).some((each) => isQueued(each) && !includes(shown, each));
    return { messages: shown.map((each) => messageOf(each)), more, ...(peeks ? {} : handOver(call, shown)) };
  },
};

/** Returns one message, or a part of it, whether it was read before or not. */
async function onePart(args: Arguments, call: ToolCall, peeks: boolean): Promise<object> {
  const { message } = await call.dispatch("showMail", { as: null, nested: call.nested, id: textArgument(args, "id") });
  const part = typeof args.part === "number" ? args.part : 1;
  const parts = partsOf(message.body).length;
  if (part < 1 || part > parts) {
    throw new PerdureError("usage", `inbox: part is ${part}, and the message ${message.id} has ${parts}.`, {
      hint: `the parts are counted from 1 to ${parts}`,
    });
  }
  const isWaiting = message.state === "queued" || message.state === "offered";
  const isMine = message.to === call.actor.address && !call.nested;
  const handedOver = isWaiting && isMine && !peeks ? handOverIfWhole(call, message, part) : {};
  return { messages: [messageOf(message, part)], more: false, ...handedOver };
}

/** Hands over what is shown whole. */
function handOver(call: ToolCall, messages: readonly MessageRecord[]): { mark?: string } {
  const whole = messages.filter(({ body }) => partsOf(body).length === 1);
  return whole.length === 0 ? {} : call.handOver(whole.map(({ id }) => id));
}

function isQueued({ state }: MessageRecord): boolean {
  return state === "queued";
}

function includes(messages: readonly MessageRecord[], { id }: MessageRecord): boolean {
  return messages.some((each) => each.id === id);
}

/** Counts the messages, from the first one on, that an answer can hold; the first one it can, by its first part. */
function countThatFit(messages: readonly MessageRecord[]): number {
  let bytes = 0;
  const end = messages.findIndex((message, at) => {
    bytes += Buffer.byteLength(JSON.stringify(message));
    return at === INBOX_TOOL_MESSAGES || (at > 0 && bytes > TOOL_MAIL_BYTES_MAX);
  });
  return end === -1 ? messages.length : end;
}

/** Beside the messages of one answer there may be as many that a hook is handing over. */
const PEEKED_MESSAGES = 2 * INBOX_TOOL_MESSAGES + 1;

function peek(call: ToolCall): Promise<MessageRecord[]> {
  return call.collect("peekMail", { ...ownMail(call), target: null, all: false, limit: PEEKED_MESSAGES });
}

/** Takes the next messages. Those that an earlier answer should have brought, and did not, come again, first. */
async function take(call: ToolCall): Promise<MessageRecord[]> {
  const bounds = { max: INBOX_TOOL_MESSAGES, bytesMax: TOOL_MAIL_BYTES_MAX };
  return (await call.dispatch("takeMail", { ...ownMail(call), ...bounds, waitMs: 0, inHand: [] })).messages;
}

/** Returns the text of a message; throws if it is too long. */
export function bodyOf(args: Arguments): string {
  const body = textArgument(args, "text");
  checkMessageText(body);
  return body;
}

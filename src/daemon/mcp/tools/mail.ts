import { INBOX_TOOL_MESSAGES } from "../../../limits/index.ts";
import { parseRecipient } from "../../../protocol/names.ts";
import { checkMessageBytes, type MessageRecord } from "../../../protocol/records/mail.ts";
import { objectSchema, textArgument, textField, type Arguments, type Tool, type ToolCall } from "../tool.ts";
import { MARK, MESSAGE, messageOf } from "./messages.ts";
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
    "Returns the messages that wait for you, and marks them as read. Mail also reaches you by itself, so there is no need to look again and again.",
  readOnly: false,
  input: objectSchema({ peek: { type: "boolean", description: "Leave the messages unread." } }, []),
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
    const messages = peeks ? await peek(call) : await take(call);
    const handedOver = peeks || messages.length === 0 ? {} : call.handOver(messages.map(({ id }) => id));
    return { messages: messages.map(messageOf), more: messages.length === INBOX_TOOL_MESSAGES, ...handedOver };
  },
};

function peek(call: ToolCall): Promise<MessageRecord[]> {
  return call.collect("peekMail", { ...ownMail(call), target: null, all: false, limit: INBOX_TOOL_MESSAGES });
}

/** Takes the next messages. Those that an earlier answer should have brought, and did not, come again, first. */
async function take(call: ToolCall): Promise<MessageRecord[]> {
  const scope = ownMail(call);
  return (await call.dispatch("takeMail", { ...scope, max: INBOX_TOOL_MESSAGES, waitMs: 0, inHand: [] })).messages;
}

/** Returns the text of a message; throws if it is too long. */
export function bodyOf(args: Arguments): string {
  const body = textArgument(args, "text");
  checkMessageBytes(body);
  return body;
}

import { randomUUID } from "node:crypto";
import { asArray, asObject, asText, type Body } from "../json.ts";
import { textsOf, type Conversation, type Event, type Message, type Reply, type Role, type Wire } from "../wire.ts";

const USAGE = { input_tokens: 10, output_tokens: 10 };

export const anthropic: Wire = {
  name: "anthropic",
  takes: (path) => path === "/v1/messages",
  read,
  whole: (reply, model) => ({
    ...start(model),
    content: partsOf(reply).map(block),
    stop_reason: stopReason(reply),
    usage: USAGE,
  }),
  events,
  error: ({ status, kind }) => ({
    type: "error",
    error: { type: kind ?? "made_up_error", message: `made-up error ${status}` },
  }),
};

function read(body: Body): Conversation {
  const system: Message = { role: "system", texts: textsOf(body.system) };
  return {
    model: asText(body.model),
    stream: body.stream === true,
    messages: [system, ...asArray(body.messages).flatMap(messagesOf)],
    tools: asArray(body.tools).map((tool) => ({ name: asText(tool.name), schema: asObject(tool.input_schema) })),
  };
}

/** Results of tools come inside of user messages, beside the user's own text. */
function messagesOf({ role, content }: Body): Message[] {
  const results = asArray(content).filter(({ type }) => type === "tool_result");
  const texts = textsOf(content);
  return [
    ...results.map((result): Message => ({ role: "tool", texts: textsOf(result.content) })),
    ...(texts.length > 0 ? [{ role: asText(role) as Role, texts }] : []),
  ];
}

function start(model: string): object {
  return { id: `msg_${randomUUID()}`, type: "message", role: "assistant", model, stop_sequence: null };
}

/** Makes a block of its own of what is said before a call. */
function partsOf(reply: Reply): Reply[] {
  return "text" in reply || reply.before === undefined ? [reply] : [{ text: reply.before }, reply];
}

function block(reply: Reply): object {
  return "text" in reply
    ? { type: "text", text: reply.text }
    : { type: "tool_use", id: `toolu_${randomUUID()}`, name: reply.tool.name, input: reply.input };
}

function stopReason(reply: Reply): string {
  return "text" in reply ? "end_turn" : "tool_use";
}

function events(reply: Reply, model: string): Event[] {
  return [
    { type: "message_start", message: { ...start(model), content: [], stop_reason: null, usage: USAGE } },
    ...partsOf(reply).flatMap(blockEvents),
    { type: "message_delta", delta: { stop_reason: stopReason(reply), stop_sequence: null }, usage: USAGE },
    { type: "message_stop" },
  ].map((data) => ({ name: data.type, data }));
}

function blockEvents(reply: Reply, index: number): { type: string; [field: string]: unknown }[] {
  const [empty, delta] =
    "text" in reply
      ? [block({ text: "" }), { type: "text_delta", text: reply.text }]
      : [
          block({ tool: reply.tool, input: {} }),
          { type: "input_json_delta", partial_json: JSON.stringify(reply.input) },
        ];
  return [
    { type: "content_block_start", index, content_block: empty },
    { type: "content_block_delta", index, delta },
    { type: "content_block_stop", index },
  ];
}

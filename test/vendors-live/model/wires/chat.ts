import { randomUUID } from "node:crypto";
import { asArray, asObject, asText, type Body } from "../json.ts";
import { textsOf, type Conversation, type Event, type Message, type Reply, type Tool, type Wire } from "../wire.ts";

const USAGE = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };

export const chat: Wire = {
  name: "chat",
  takes: (path) => path === "/v1/chat/completions",
  read,
  whole: (reply, model) => ({
    ...head(model, "chat.completion"),
    choices: [{ index: 0, message: { role: "assistant", ...content(reply) }, finish_reason: finishReason(reply) }],
    usage: USAGE,
  }),
  events,
  error: ({ status, kind }) => ({
    error: { message: `made-up error ${status}`, type: kind ?? "made_up_error", code: kind },
  }),
};

function read(body: Body): Conversation {
  return {
    model: asText(body.model),
    stream: body.stream === true,
    messages: asArray(body.messages).map(messageOf),
    tools: asArray(body.tools).map((tool) => toolOf(asObject(tool.function))),
  };
}

function toolOf({ name, parameters }: Body): Tool {
  return { name: asText(name), schema: asObject(parameters) };
}

function messageOf({ role, content: sent }: Body): Message {
  const known = role === "user" || role === "assistant" || role === "tool";
  return { role: known ? role : "system", texts: textsOf(sent) };
}

function head(model: string, object: string): object {
  return { id: `chatcmpl-${randomUUID()}`, object, created: 0, model };
}

function content(reply: Reply): object {
  if ("text" in reply) return { content: reply.text };
  const call = { name: reply.tool.name, arguments: JSON.stringify(reply.input) };
  return {
    content: reply.before ?? null,
    tool_calls: [{ index: 0, id: `call_${randomUUID()}`, type: "function", function: call }],
  };
}

function finishReason(reply: Reply): string {
  return "text" in reply ? "stop" : "tool_calls";
}

function events(reply: Reply, model: string): Event[] {
  const chunk = { ...head(model, "chat.completion.chunk") };
  const choice = { index: 0, finish_reason: null };
  return [
    { data: { ...chunk, choices: [{ ...choice, delta: { role: "assistant", ...content(reply) } }] } },
    { data: { ...chunk, choices: [{ ...choice, delta: {}, finish_reason: finishReason(reply) }] } },
    { data: { ...chunk, choices: [], usage: USAGE } },
    { data: "[DONE]" },
  ];
}

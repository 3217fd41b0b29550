import { randomUUID } from "node:crypto";
import { asArray, asObject, asText, type Body } from "../json.ts";
import { textsOf, type Conversation, type Event, type Message, type Reply, type Tool, type Wire } from "../wire.ts";

const USAGE = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 20,
};

export const responses: Wire = {
  name: "responses",
  takes: (path) => path === "/v1/responses",
  read,
  whole: (reply, model) => finished(reply, model, partsOf(reply).map(item)),
  events,
  error: ({ status, kind }) => ({
    error: { message: `made-up error ${status}`, type: kind ?? "made_up_error", code: kind },
  }),
};

function read(body: Body): Conversation {
  const system: Message = { role: "system", texts: textsOf(body.instructions) };
  const input = typeof body.input === "string" ? [{ role: "user", content: body.input }] : asArray(body.input);
  return {
    model: asText(body.model),
    stream: body.stream === true,
    messages: [system, ...input.flatMap(messageOf)],
    tools: asArray(body.tools).flatMap(toolsOf),
  };
}

function messageOf({ type, role, content, output }: Body): Message[] {
  if (asText(type).endsWith("_call_output")) return [{ role: "tool", texts: textsOf(output) }];
  if (type !== undefined && type !== "message") return [];
  const speaker = role === "user" || role === "assistant" ? role : "system";
  return [{ role: speaker, texts: textsOf(content) }];
}

function toolsOf(tool: Body): Tool[] {
  const name = asText(tool.name) || asText(tool.type);
  if (tool.type === "namespace")
    return asArray(tool.tools)
      .flatMap(toolsOf)
      .map((each) => ({ ...each, group: name }));
  return [{ name, freeform: tool.type === "custom", schema: asObject(tool.parameters) }];
}

/** Makes an item of its own of what is said before a call. */
function partsOf(reply: Reply): Reply[] {
  return "text" in reply || reply.before === undefined ? [reply] : [{ text: reply.before }, reply];
}

function item(reply: Reply): Body {
  if ("text" in reply) {
    const part = { type: "output_text", text: reply.text, annotations: [] };
    return { id: `msg_${randomUUID()}`, type: "message", role: "assistant", status: "completed", content: [part] };
  }
  const { tool, input } = reply;
  const call = { id: `fc_${randomUUID()}`, call_id: `call_${randomUUID()}`, name: tool.name, status: "completed" };
  if (tool.freeform) return { ...call, type: "custom_tool_call", input: asText(input.input) };
  const group = tool.group === undefined ? {} : { namespace: tool.group };
  return { ...call, ...group, type: "function_call", arguments: JSON.stringify(input) };
}

function finished(reply: Reply, model: string, output: Body[]): Body {
  const output_text = "text" in reply ? reply.text : "";
  return { ...response(model), status: "completed", output, output_text, usage: USAGE };
}

function response(model: string): Body {
  return { id: `resp_${randomUUID()}`, object: "response", created_at: 0, model, status: "in_progress", output: [] };
}

function events(reply: Reply, model: string): Event[] {
  const parts = partsOf(reply).map((part) => ({ part, done: item(part) }));
  const output = parts.map(({ done }) => done);
  return [
    { type: "response.created", response: response(model) },
    ...parts.flatMap(({ part, done }, at) => itemEvents(part, done, at)),
    { type: "response.completed", response: finished(reply, model, output) },
  ].map((data, sequence_number) => ({ name: data.type, data: { ...data, sequence_number } }));
}

function itemEvents(part: Reply, done: Body, output_index: number): { type: string; [field: string]: unknown }[] {
  const at = { output_index, item_id: done.id };
  const text =
    "text" in part
      ? [
          { type: "response.output_text.delta", ...at, content_index: 0, delta: part.text },
          { type: "response.output_text.done", ...at, content_index: 0, text: part.text },
        ]
      : [];
  return [
    { type: "response.output_item.added", output_index, item: { ...done, status: "in_progress", ...emptied(done) } },
    ...text,
    { type: "response.output_item.done", output_index, item: done },
  ];
}

/** An item is announced empty and filled by what follows. */
function emptied({ type }: Body): Body {
  if (type === "message") return { content: [] };
  return type === "function_call" ? { arguments: "" } : { input: "" };
}

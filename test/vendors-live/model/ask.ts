import { text } from "node:stream/consumers";
import type { ReadableStream } from "node:stream/web";
import type { Model } from "./index.ts";
import { asArray, asObject, asText, parse, type Body } from "./json.ts";
import type { WireName } from "./wire.ts";

/** Something said in a conversation, in the shape of no wire in particular. */
export type Said = { user: string } | { assistant: string } | { call: string; input: Body } | { result: string };

/** How a client of a wire asks, and how it reads the answer. */
interface Client {
  path(stream: boolean): string;
  body(said: readonly Said[], tools: readonly string[], stream: boolean): Body;
  /** The model's answer, whole or in a stream: the text, or the call as `name {json}`. */
  whole(answer: Body): string;
  streamed(events: readonly Body[]): string;
}

const CLIENTS: Readonly<Record<WireName, Client>> = {
  anthropic: {
    path: () => "/v1/messages?beta=true",
    body: (said, tools, stream) => ({
      model: "m",
      stream,
      system: [{ type: "text", text: "be good" }],
      messages: said.map((each) => {
        if ("user" in each) return { role: "user", content: [{ type: "text", text: each.user }] };
        if ("assistant" in each) return { role: "assistant", content: each.assistant };
        if ("call" in each)
          return { role: "assistant", content: [{ type: "tool_use", id: "1", name: each.call, input: each.input }] };
        return { role: "user", content: [{ type: "tool_result", tool_use_id: "1", content: each.result }] };
      }),
      tools: tools.map((name) => ({ name, input_schema: { type: "object" } })),
    }),
    whole: ({ content }) => asArray(content).map(blockText).join(""),
    streamed: (events) => {
      const texts = events.map(({ type, content_block, delta }) => {
        if (type === "content_block_start") return blockText(asObject(content_block)).replace(/\{\}$/, "");
        const { text: said, partial_json } = asObject(type === "content_block_delta" ? delta : null);
        return asText(said) + asText(partial_json);
      });
      return texts.join("");
    },
  },
  responses: {
    path: () => "/v1/responses",
    body: (said, tools, stream) => ({
      model: "m",
      stream,
      instructions: "be good",
      input: said.map((each) => {
        if ("user" in each)
          return { type: "message", role: "user", content: [{ type: "input_text", text: each.user }] };
        if ("assistant" in each)
          return { type: "message", role: "assistant", content: [{ type: "output_text", text: each.assistant }] };
        if ("call" in each)
          return { type: "function_call", call_id: "1", name: each.call, arguments: JSON.stringify(each.input) };
        return { type: "function_call_output", call_id: "1", output: each.result };
      }),
      tools: tools.map((name) => ({ type: "function", name, parameters: { type: "object" } })),
    }),
    whole: ({ output }) => asArray(output).map(itemText).join(""),
    streamed: (events) => {
      const done = events.filter(({ type }) => type === "response.output_item.done");
      return done.map(({ item }) => itemText(asObject(item))).join("");
    },
  },
  chat: {
    path: () => "/v1/chat/completions",
    body: (said, tools, stream) => ({
      model: "m",
      stream,
      messages: [{ role: "system", content: "be good" }, ...said.map(chatMessage)],
      tools: tools.map((name) => ({ type: "function", function: { name, parameters: { type: "object" } } })),
    }),
    whole: ({ choices }) => chatText(asObject(asArray(choices)[0]?.message)),
    streamed: (events) => events.map((event) => chatText(asObject(asArray(event.choices)[0]?.delta))).join(""),
  },
  gemini: {
    path: (stream) => `/v1beta/models/m:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: (said, tools) => ({
      systemInstruction: { parts: [{ text: "be good" }] },
      contents: said.map((each) => {
        if ("user" in each) return { role: "user", parts: [{ text: each.user }] };
        if ("assistant" in each) return { role: "model", parts: [{ text: each.assistant }] };
        if ("call" in each) return { role: "model", parts: [{ functionCall: { name: each.call, args: each.input } }] };
        return { role: "user", parts: [{ functionResponse: { name: "t", response: { output: each.result } } }] };
      }),
      tools: [{ functionDeclarations: tools.map((name) => ({ name, parameters: { type: "object" } })) }],
    }),
    whole: geminiText,
    streamed: (events) => events.map(geminiText).join(""),
  },
};

/** Asks the way a vendor's program does; the answer, or the status when it is an error. */
export async function ask(
  model: Model,
  wire: WireName,
  said: readonly Said[],
  {
    stream = true,
    tools = ["look"],
    headers = {},
  }: { stream?: boolean; tools?: string[]; headers?: Record<string, string> } = {},
): Promise<string | number> {
  const client = CLIENTS[wire];
  const response = await fetch(model.url + client.path(stream), {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(client.body(said, tools, stream)),
  });
  const answer = await text(response.body as ReadableStream);
  if (!response.ok) return response.status;
  return stream ? client.streamed(eventsOf(answer)) : client.whole(asObject(parse(answer)));
}

function eventsOf(stream: string): Body[] {
  return [...stream.matchAll(/^data: (\{.*)$/gm)].map(([, data = ""]) => asObject(parse(data)));
}

function called(name: unknown, input: unknown): string {
  return `${asText(name)} ${typeof input === "string" ? input : JSON.stringify(input)}`;
}

function blockText({ type, text: said, name, input }: Body): string {
  return type === "tool_use" ? called(name, input) : asText(said);
}

function itemText({ type, content, name, arguments: input }: Body): string {
  return type === "function_call" ? called(name, input) : asText(asArray(content)[0]?.text);
}

function chatMessage(each: Said): Body {
  if ("user" in each) return { role: "user", content: each.user };
  if ("assistant" in each) return { role: "assistant", content: each.assistant };
  if ("result" in each) return { role: "tool", tool_call_id: "1", content: each.result };
  const call = { name: each.call, arguments: JSON.stringify(each.input) };
  return { role: "assistant", content: null, tool_calls: [{ id: "1", type: "function", function: call }] };
}

function chatText({ content, tool_calls }: Body): string {
  const call = asObject(asArray(tool_calls)[0]?.function);
  return asText(content) + (call.name === undefined ? "" : called(call.name, call.arguments));
}

function geminiText({ candidates }: Body): string {
  const parts = asArray(asObject(asArray(candidates)[0]?.content).parts);
  return parts
    .map((part) => {
      const call = asObject(part.functionCall);
      return call.name === undefined ? asText(part.text) : called(call.name, call.args);
    })
    .join("");
}

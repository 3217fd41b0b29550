import { asArray, asObject, asText, type Body } from "../json.ts";
import { textsOf, type Conversation, type Message, type Reply, type Tool, type Wire } from "../wire.ts";

const PATH = /^\/v1(?:beta)?\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;

export const gemini: Wire = {
  name: "gemini",
  takes: (path) => PATH.test(path),
  read,
  whole: answer,
  events: (reply, model) => [{ data: answer(reply, model) }],
  error: ({ status, kind }) => ({
    error: { code: status, message: `made-up error ${status}`, status: kind ?? "MADE_UP" },
  }),
};

function read(body: Body, path: string): Conversation {
  const [, model = "", verb] = PATH.exec(path) ?? [];
  const system: Message = { role: "system", texts: textsOf(asObject(body.systemInstruction).parts) };
  const declared = asArray(body.tools).flatMap((tool) => asArray(tool.functionDeclarations));
  return {
    model,
    stream: verb === "streamGenerateContent",
    messages: [system, ...asArray(body.contents).flatMap(messagesOf)],
    tools: declared.map(toolOf),
  };
}

function toolOf({ name, parametersJsonSchema, parameters }: Body): Tool {
  return { name: asText(name), schema: asObject(parametersJsonSchema ?? parameters) };
}

/** Results of tools come inside of user contents. */
function messagesOf({ role, parts }: Body): Message[] {
  const results = asArray(parts).filter(({ functionResponse }) => functionResponse !== undefined);
  const texts = textsOf(parts);
  return [
    ...results.map(({ functionResponse }): Message => ({
      role: "tool",
      texts: [resultText(asObject(functionResponse))],
    })),
    ...(texts.length > 0 ? [{ role: role === "model" ? ("assistant" as const) : ("user" as const), texts }] : []),
  ];
}

function resultText({ response }: Body): string {
  return asText(asObject(response).output) || JSON.stringify(response ?? {});
}

function answer(reply: Reply, modelVersion: string): object {
  return {
    candidates: [{ index: 0, finishReason: "STOP", content: { role: "model", parts: partsOf(reply) } }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 },
    modelVersion,
  };
}

function partsOf(reply: Reply): object[] {
  if ("text" in reply) return [{ text: reply.text }];
  const before = reply.before === undefined ? [] : [{ text: reply.before }];
  return [...before, { functionCall: { name: reply.tool.name, args: reply.input } }];
}

import { asText, type Body } from "./json.ts";
import type { Failure } from "./prompt-directives.ts";

export type Role = "system" | "user" | "assistant" | "tool";

/** One message as it was sent, the additions of the program included. A `tool` message is the result of a call. */
export interface Message {
  role: Role;
  texts: readonly string[];
}

/** A wire's request, in one shape for all wires. */
export interface Conversation {
  model: string;
  stream: boolean;
  messages: readonly Message[];
  tools: readonly Tool[];
}

/** A tool on offer. Some vendors group the tools of an MCP server; a call then has to name the group too. */
export interface Tool {
  name: string;
  group?: string;
  /** Takes one plain text instead of a JSON object. */
  freeform?: boolean;
  /** The JSON schema of its input. */
  schema: Body;
}

/** A text, or the call of a tool, before which the model may say something. */
export type Reply = { text: string } | { tool: Tool; input: Body; before?: string };

/** A server-sent event. */
export interface Event {
  name?: string;
  data: object | string;
}

export type WireName = "anthropic" | "responses" | "chat" | "gemini";

/** A protocol a vendor's program speaks to its model. */
export interface Wire {
  name: WireName;
  takes(path: string): boolean;
  read(body: Body, path: string): Conversation;
  whole(reply: Reply, model: string): object;
  events(reply: Reply, model: string): Event[];
  error(failure: Failure): object;
}

/** The texts of a content that is a string or a list of parts. */
export function textsOf(content: unknown): string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown) => {
    if (typeof part === "string") return [part];
    const text = asText((part as Body | null)?.text);
    return text === "" ? [] : [text];
  });
}

import type { Conversation, Message } from "./wire.ts";

// Questions a program asks the model on its own account: titles, summaries, memories, whether a command is harmless. They
// come at any time, beside the conversation, and carry the user's words along; a test that counts turns must not count
// them. Known by how a text of theirs begins: what the user says or a long system prompt mentions must not look like one.

const BEGINNINGS: readonly RegExp[] = [
  /^Generate a (?:concise|short|brief)\b.{0,80}\btitle\b/,
  /^You are a title generator\b/,
  /^You are now acting as the managed memory\b/,
  /^You are a security classifier\b/,
  /^Summarize the\b.{0,80}\bconversation\b/,
];

/** Decides whether a request is auxiliary. Without tools an agent could do nothing, so such a request is no turn either. */
export function isAuxiliary({ messages, tools }: Conversation): boolean {
  return tools.length === 0 || messages.some(beginsLikeOne);
}

function beginsLikeOne({ role, texts }: Message): boolean {
  return role !== "assistant" && texts.some((text) => BEGINNINGS.some((beginning) => beginning.test(text)));
}

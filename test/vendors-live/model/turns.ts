import type { Message } from "./wire.ts";

// What vendors' programs put into user messages by themselves. Matched on content: it differs from the user's own text
// in no other way, and not one program says how many of its messages are its own.

/** Passages a program adds, whatever stands around them. */
const PASSAGES = [
  "local-command-caveat",
  "local-command-stdout",
  "command-name",
  "command-message",
  "command-args",
  "system-reminder",
  "system_reminder",
  "environment_context",
  "user_instructions",
  "hook_context",
  "hook_prompt",
  "current_datetime",
  "reminder",
  "session_context",
  "permissions instructions",
  "skills_instructions",
];

/** How texts begin that are the program's from beginning to end. */
const BEGINNINGS = [
  /^# AGENTS\.md instructions/,
  /^Stop hook feedback:/,
  /^This is the Gemini CLI\. We are setting up/,
];

const PASSAGE = new RegExp(`<(${PASSAGES.join("|")})(?:\\s[^>]*)?>[\\s\\S]*?</\\1>`, "g");

/** The user's words in a text; empty when nothing of it is the user's. */
function ownText(text: string): string {
  const own = text.replaceAll(PASSAGE, "").trim();
  return BEGINNINGS.some((beginning) => beginning.test(own)) ? "" : own;
}

/** The user's words, one text a turn, and the results of tools since the last turn. */
export function turnsOf(messages: readonly Message[]): { turns: string[]; results: string[] } {
  const turns: string[] = [];
  let results: string[] = [];
  for (const { role, texts } of messages) {
    if (role === "tool") results.push(texts.join("\n"));
    if (role !== "user") continue;
    const own = texts.map(ownText).filter((text) => text !== "");
    if (own.length > 0) results = [];
    turns.push(...own);
  }
  return { turns, results };
}

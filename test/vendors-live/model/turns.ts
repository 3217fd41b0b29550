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
  "qwen:user-prompt-submit-context",
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
  // The first hook of a run, where its text has a user's role.
  /^You are \S+, a worker that perdure keeps:/,
  /^This is the Gemini CLI\. We are setting up/,
  // What perdure tells an agent at its start, where a program makes a message of that.
  /^You are \S+, a worker that perdure keeps: /,
];

const PASSAGE = new RegExp(`<(${PASSAGES.join("|")})(?:\\s[^>]*)?>[\\s\\S]*?</\\1>`, "g");

/** The mail that perdure has put into a text. */
const MAIL = /perdure mail \(m-[0-9a-f]{16}\) for \S+:\n[^]*/;

/** The user's words in a text; empty when nothing of it is the user's. */
function ownText(text: string): string {
  const own = text.replaceAll(PASSAGE, "").trim();
  return BEGINNINGS.some((beginning) => beginning.test(own)) ? "" : own;
}

/** The texts that are turns, of those that came without an answer in between: mail beside what a user says is none. */
function turnsAmong(texts: readonly string[]): string[] {
  const prompts = texts.filter((text) => text.search(MAIL) !== 0);
  return prompts.length > 0 ? prompts : [...texts];
}

/** The user's words, one text a turn, and the results of tools since the last turn. */
export function turnsOf(messages: readonly Message[]): { turns: string[]; results: string[] } {
  const turns: string[] = [];
  const unanswered: string[] = [];
  let results: string[] = [];
  for (const { role, texts } of messages) {
    if (role === "tool") results.push(texts.join("\n"));
    if (role === "assistant") turns.push(...turnsAmong(unanswered.splice(0)));
    if (role !== "user") continue;
    const said = texts.map(ownText).filter((text) => text !== "");
    // Mail that came alone has begun a turn or prolonged one; mail beside what a user says has not.
    const own = said.length > 0 ? said : texts.flatMap((text) => MAIL.exec(text)?.[0] ?? []);
    if (own.length > 0) results = [];
    unanswered.push(...own);
  }
  return { turns: [...turns, ...turnsAmong(unanswered)], results };
}

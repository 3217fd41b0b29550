import { fieldsOf, textOf } from "../../util/fields.ts";
import { mayUnder, yoloIn } from "../shared/approval-mode.ts";
import { wordSet } from "../shared/arguments.ts";
import { turnOptions } from "../shared/turn-arguments.ts";
import { readsLines, type PrintedLine, type TurnLine } from "../shared/turn-output.ts";
import type { TurnFacet } from "../turn.ts";
import { GEMINI_ARGUMENTS } from "./arguments.ts";
import { geminiScreen } from "./screen.ts";

/** Lines that stand on its stderr whatever comes. */
const USUAL = /^(?:Ripgrep is not available\.|Warning: True color |YOLO mode is enabled\.|\[STARTUP\] )/;

const MAY = {
  auto_edit: "read files, and edit those in its folder; commands are refused, but for what its settings allow",
  plan: "read files and answer; edits and commands are refused",
};

/**
 * Gemini reads the prompt from its stdin, and prints an event a line: the words of the answer in parts. It says which conversation it is
 * in before it looks whether the prompt is a command, so that `/clear` would not show here; no prompt of ours begins like one.
 */
export const geminiTurn: TurnFacet = {
  args: (args) => [NO_PROMPT, "--output-format", "stream-json", ...turnOptions(args, GEMINI_ARGUMENTS, LEFT_OUT)],
  ...readsLines(readLine, geminiScreen.blockedExit, USUAL),
  skipsPermissions: (args) => yoloIn(args, GEMINI_ARGUMENTS),
  may: (args) => mayUnder(args, GEMINI_ARGUMENTS, MAY),
};

/** With this option nobody sits in front; what is said comes by the stdin alone. */
const NO_PROMPT = "--prompt=";

const LEFT_OUT = wordSet("-p --prompt -i --prompt-interactive -o --output-format --screen-reader");

/** By itself gemini tries for minutes to get past a 429 or a 500; so it tries once more, after five seconds. */
export const GEMINI_TURN_SETTINGS = { maxAttempts: 2 };

/** Tells whether these are the arguments of a turn: nobody else gives a prompt without a word. */
export function isGeminiTurn(args: readonly string[]): boolean {
  return args.includes(NO_PROMPT);
}

function readLine(line: PrintedLine): TurnLine {
  const text = textOf(line.content);
  switch (line.type) {
    case "init":
      return { session: textOf(line.session_id) };
    case "message":
      if (line.role !== "assistant" || text === null) return {};
      return { progress: [{ kind: "text", text }], more: { text, of: "answer" } };
    case "tool_use":
      return { progress: [{ kind: "tool", name: textOf(line.tool_name) ?? "tool" }] };
    case "error":
      return { failed: { words: textOf(line.message) } };
    case "result":
      // The reason stands here, or in an event of its own before.
      if (line.status === "success") return { ended: true };
      return { ended: true, failed: { words: textOf(fieldsOf(line.error).message) } };
    default:
      return {};
  }
}

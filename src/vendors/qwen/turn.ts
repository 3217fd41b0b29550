import { fieldsOf, textOf } from "../../util/fields.ts";
import { mayUnder, yoloIn } from "../shared/approval-mode.ts";
import { wordSet } from "../shared/arguments.ts";
import { turnOptions } from "../shared/turn-arguments.ts";
import { readsLines, type PrintedLine, type TurnLine } from "../shared/turn-output.ts";
import type { TurnFacet, TurnProgress } from "../turn.ts";
import { QWEN_ARGUMENTS } from "./arguments.ts";
import { qwenScreen } from "./screen.ts";

/** Lines that stand on its stderr whatever comes. */
const USUAL = /^(?:Ripgrep not available: |Retrying provider attempt )/;

const MAY = {
  "auto-edit": "edit files, also outside its folder; commands are refused, but for what its settings allow",
  plan: "read files and answer; edits and commands are refused",
};

/** Qwen reads the prompt from its stdin, and prints an event a line, and at the end the result of the turn. */
export const qwenTurn: TurnFacet = {
  args: (args) => [NO_PROMPT, "--output-format", "stream-json", ...turnOptions(args, QWEN_ARGUMENTS, LEFT_OUT)],
  ...readsLines(readLine, qwenScreen.blockedExit, USUAL),
  skipsPermissions: (args) => yoloIn(args, QWEN_ARGUMENTS),
  may: (args) => mayUnder(args, QWEN_ARGUMENTS, MAY),
};

/** With this option nobody sits in front; what is said comes by the stdin alone. */
const NO_PROMPT = "--prompt=";

const LEFT_OUT =
  wordSet(`-p --prompt -i --prompt-interactive -o --output-format --input-format --include-partial-messages
  --input-file --json-file --json-fd --screen-reader`);

/**
 * By itself qwen tries for longer than ten minutes to get past a 429, and with this setting for some 75 seconds; it has none for less.
 */
export const QWEN_TURN_SETTINGS = { model: { generationConfig: { maxRetries: 0 } } };

/** Tells whether these are the arguments of a turn: nobody else gives a prompt without a word. */
export function isQwenTurn(args: readonly string[]): boolean {
  return args.includes(NO_PROMPT);
}

function readLine(line: PrintedLine): TurnLine {
  const session = textOf(line.session_id);
  if (line.type === "assistant")
    return { session, progress: textOf(line.parent_tool_use_id) === null ? stepsIn(line) : [] };
  if (line.type === "result") return { session, ended: true, ...resultOf(line) };
  return { session };
}

/** Returns the steps that the agent's message shows; an error that qwen tells looks like one. */
function stepsIn({ message }: PrintedLine): TurnProgress[] {
  const { content } = fieldsOf(message);
  return (Array.isArray(content) ? content.map(fieldsOf) : []).flatMap(({ type, text, name }): TurnProgress[] => {
    const said = textOf(text);
    if (type === "tool_use") return [{ kind: "tool", name: textOf(name) ?? "tool" }];
    return type === "text" && said !== null && !said.startsWith("[API Error: ") ? [{ kind: "text", text: said }] : [];
  });
}

/** A result without a turn of the model is that of a command of qwen's own. */
function resultOf(line: PrintedLine): TurnLine {
  const said = textOf(line.result);
  if (line.is_error !== false) return { failed: { words: textOf(fieldsOf(line.error).message) ?? said } };
  if (line.num_turns === 0) return { failed: { words: "qwen took the message for a command of its own" } };
  return { answer: said };
}

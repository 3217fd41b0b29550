import { fieldsOf, textOf } from "../../util/fields.ts";
import { wordSet } from "../shared/arguments.ts";
import type { FailedTurn } from "../shared/failed-turn.ts";
import { optionGiven, turnOptions, valuesOf } from "../shared/turn-arguments.ts";
import { readsLines, type PrintedLine, type TurnLine } from "../shared/turn-output.ts";
import type { TurnFacet, TurnProgress } from "../turn.ts";
import { PI_ARGUMENTS } from "./arguments.ts";

/**
 * Pi reads the prompt from its stdin, as words alone, and prints an event a line; it ends with 0 whatever came of the turn. Its four tries
 * after a 429 or a 500 take 15 s; nothing but its settings would bound them.
 */
export const piTurn: TurnFacet = {
  args: (args) => ["-p", "--mode", "json", ...turnOptions(args, PI_ARGUMENTS, LEFT_OUT)],
  ...readsLines(readLine),
  // It has no permissions: every tool runs.
  skipsPermissions: () => "pi asks nobody",
  may,
};

const LEFT_OUT = wordSet("-p --print --mode --tui-mode --use-theme --verbose");

function readLine(line: PrintedLine): TurnLine {
  switch (line.type) {
    case "session":
      return { session: textOf(line.id) };
    case "message_end":
      return messageIn(fieldsOf(line.message));
    case "compaction_end":
      return { failed: failureOf(textOf(line.errorMessage)) };
    case "agent_settled":
      return { ended: true, failed: line.aborted === true ? { words: "the turn was interrupted" } : null };
    default:
      return {};
  }
}

function messageIn({ role, content, stopReason, errorMessage }: PrintedLine): TurnLine {
  if (role !== "assistant") return {};
  const parts = Array.isArray(content) ? content.map(fieldsOf) : [];
  const progress = parts.flatMap(({ type, text, name }): TurnProgress[] => {
    const said = textOf(text);
    if (type === "toolCall") return [{ kind: "tool", name: textOf(name) ?? "tool" }];
    return type === "text" && said !== null ? [{ kind: "text", text: said }] : [];
  });
  if (stopReason === "toolUse") return { progress };
  const text = progress.map((each) => (each.kind === "text" ? each.text : "")).join("");
  if (stopReason === "stop") return { progress, answer: text };
  const words = textOf(errorMessage) ?? `the answer was not finished: ${textOf(stopReason) ?? "no reason"}`;
  return { progress, failed: failureOf(words) };
}

/** The words begin with the provider's status. */
function failureOf(words: string | null): FailedTurn | null {
  return words === null ? null : { words, status: Number(/^(\d{3})\b/.exec(words)?.[1] ?? 0) };
}

function may(args: readonly string[]): string {
  if (optionGiven(args, PI_ARGUMENTS, "--no-tools", "-nt") !== null) return "answer; it has no tools";
  const tools = valuesOf(args, PI_ARGUMENTS, "--tools", "-t").at(-1);
  const most = "edit any file and run any command without asking";
  return tools === undefined ? most : `use ${tools.split(",").join(", ")} on any file without asking`;
}

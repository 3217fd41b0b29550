import { fieldsOf, textOf } from "../../util/fields.ts";
import type { ArgsInfo } from "../adapter.ts";
import { readArguments, wordSet } from "../shared/arguments.ts";
import type { FailedTurn } from "../shared/failed-turn.ts";
import { optionGiven, turnOptions, valuesOf } from "../shared/turn-arguments.ts";
import { readsLines, type PrintedLine, type TurnLine } from "../shared/turn-output.ts";
import type { TurnFacet, TurnProgress } from "../turn.ts";
import { COPILOT_ARGUMENTS } from "./arguments.ts";
import { copilotScreen } from "./screen.ts";

/**
 * Copilot reads the prompt from its stdin, as words alone, and prints an event a line; only the last one names the conversation. After a
 * 429 it tries for a minute, and no option or variable bounds that: a turn that is stopped before tells the error of its last try.
 */
export const copilotTurn: TurnFacet = {
  args: (args) => ["--output-format", "json", ...turnOptions(args, COPILOT_ARGUMENTS, LEFT_OUT)],
  ...readsLines(readLine, copilotScreen.blockedExit),
  skipsPermissions,
  may,
};

const LEFT_OUT = wordSet(`-p --prompt -i --interactive -s --silent --output-format --attachment --banner --screen-reader
  --plain-diff --mouse --no-mouse --remote --share --share-gist`);

/** Reads the arguments. What is printed for programs is printed without a terminal, and then the prompt comes by the stdin. */
export function readArgs(args: readonly string[]): ArgsInfo {
  const read = readArguments(args, COPILOT_ARGUMENTS);
  return { ...read, headless: read.headless || valuesOf(args, COPILOT_ARGUMENTS, "--output-format").includes("json") };
}

function readLine(line: PrintedLine): TurnLine {
  switch (line.type) {
    case "assistant.message":
      return messageIn(fieldsOf(line.data));
    case "model.call_failure":
    case "session.error":
      return { failed: failureIn(line) };
    case "abort":
      return { failed: { words: "the turn was interrupted" } };
    case "result":
      return { session: textOf(line.sessionId), ended: true };
    default:
      return {};
  }
}

/** Reads what is said; the words of an agent below the agent belong to the tool that began it. */
function messageIn({ content, toolRequests, parentToolCallId }: PrintedLine): TurnLine {
  if (textOf(parentToolCallId) !== null) return {};
  const said = typeof content === "string" ? content : "";
  const calls = Array.isArray(toolRequests) ? toolRequests.map(fieldsOf) : [];
  const text: TurnProgress[] = said === "" ? [] : [{ kind: "text", text: said }];
  const tools = calls.map(({ name }): TurnProgress => ({ kind: "tool", name: textOf(name) ?? "tool" }));
  return { progress: [...text, ...tools], answer: calls.length === 0 ? said : null };
}

/** Reads an event that tells of an error; some have the provider's status in their words alone. */
export function failureIn({ data }: PrintedLine): FailedTurn {
  const { errorType, statusCode, message, errorMessage } = fieldsOf(data);
  const words = textOf(message) ?? textOf(errorMessage);
  const told = Number(/\b(?:HTTP|error:) (\d{3})\b/.exec(words ?? "")?.[1]);
  return { error: textOf(errorType), status: typeof statusCode === "number" ? statusCode : told, words };
}

/** With the last one another model decides in a person's place; in the mode of the others nobody is asked. */
const SKIPPING = ["--allow-all-tools", "--allow-all", "--yolo", "--assisted-approval"];

function skipsPermissions(args: readonly string[]): string | null {
  return optionGiven(args, COPILOT_ARGUMENTS, ...SKIPPING);
}

function may(args: readonly string[]): string {
  if (optionGiven(args, COPILOT_ARGUMENTS, "--allow-all", "--yolo") !== null)
    return "edit any file and run any command without asking";
  if (skipsPermissions(args) !== null) return "edit files and run commands without asking";
  const allowed = valuesOf(args, COPILOT_ARGUMENTS, "--allow-tool").flatMap((tools) => tools.split(","));
  const tools = allowed.length === 0 ? "" : `; allowed beforehand: ${allowed.join(", ")}`;
  return `read files and answer; edits and commands are refused${tools}`;
}

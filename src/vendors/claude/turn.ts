import { fieldsOf, textOf } from "../../util/fields.ts";
import { wordSet } from "../shared/arguments.ts";
import { optionGiven, turnOptions, valuesOf } from "../shared/turn-arguments.ts";
import type { FailedTurn } from "../shared/failed-turn.ts";
import { readsLines, type PrintedLine, type TurnLine } from "../shared/turn-output.ts";
import type { TurnFacet, TurnProgress } from "../turn.ts";
import { ARGUMENTS } from "./arguments.ts";
import { claudeScreen } from "./screen.ts";
import { givenSettings } from "./settings.ts";

/**
 * Claude prints an event a line, and at the end the result of the turn, which alone tells an answer from an error. It looks for commands
 * and files in what it is told: no prompt of ours begins like a command, and the variable keeps it from showing files to its model. By
 * itself it would try for minutes to get past a 401 or a 429; with four more tries it does so for some ten seconds.
 */
export const claudeTurn: TurnFacet = {
  args: (args) => ["-p", "--output-format", "stream-json", "--verbose", ...turnOptions(args, ARGUMENTS, LEFT_OUT)],
  variables: { CLAUDE_CODE_DISABLE_FILE_MENTIONS: "1", CLAUDE_CODE_MAX_RETRIES: "4" },
  ...readsLines(readLine, claudeScreen.blockedExit),
  skipsPermissions,
  may,
};

const LEFT_OUT =
  wordSet(`-p --print --output-format --input-format --verbose --include-partial-messages --include-hook-events
  --replay-user-messages --forward-subagent-text --prompt-suggestions --remote-control --remote-control-session-name-prefix --ide`);

function readLine(line: PrintedLine): TurnLine {
  const session = textOf(line.session_id);
  if (line.type === "assistant") return { session, progress: isTheAgent(line) ? progressIn(line) : [] };
  if (line.type === "result") return { session, ended: true, ...resultOf(line) };
  return { session, failed: line.subtype === "api_retry" ? retryOf(line) : null };
}

/** Tells whether the agent itself said this; else an agent below it did, or claude, about an error. */
function isTheAgent({ parent_tool_use_id: parent, error }: PrintedLine): boolean {
  return textOf(parent) === null && textOf(error) === null;
}

function progressIn({ message }: PrintedLine): TurnProgress[] {
  const { content } = fieldsOf(message);
  return (Array.isArray(content) ? content.map(fieldsOf) : []).flatMap(({ type, text, name }): TurnProgress[] => {
    const said = textOf(text);
    if (type === "tool_use") return [{ kind: "tool", name: textOf(name) ?? "tool" }];
    return type === "text" && said !== null ? [{ kind: "text", text: said }] : [];
  });
}

/** A `subtype` of "success" is one only where `is_error` does not deny it; a command of claude's own is no answer either. */
function resultOf(line: PrintedLine): TurnLine {
  const command = textOf(line.local_command);
  if (command !== null) return { failed: { words: `claude took the message for its own command /${command}` } };
  const said = textOf(line.result);
  if (line.subtype === "success" && line.is_error === false) return { answer: said };
  const errors = Array.isArray(line.errors) ? line.errors : [];
  const words = said ?? ENDS.get(textOf(line.terminal_reason) ?? "") ?? textOf(errors[0]) ?? textOf(line.subtype);
  return { failed: { status: numberOf(line.api_error_status), words } };
}

const ENDS: ReadonlyMap<string, string> = new Map([["aborted_streaming", "the turn was interrupted"]]);

/** Returns the error after which claude tries again; it counts if claude is stopped before it has got an answer. */
function retryOf({ error, error_status, attempt, max_retries }: PrintedLine): FailedTurn {
  const status = numberOf(error_status);
  const what = [status, textOf(error)].filter((word) => word !== null).join(" ") || "no answer";
  return {
    error: textOf(error),
    status,
    words: `API error ${what}, try ${numberOf(attempt)} of ${numberOf(max_retries)}`,
  };
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

const SKIPPING = ["--dangerously-skip-permissions", "--allow-dangerously-skip-permissions"];
/** The modes in which nobody is asked: in one of them a check of claude's own decides in the person's place. */
const SKIPPING_MODES = wordSet("bypassPermissions auto");

function skipsPermissions(args: readonly string[]): string | null {
  const flag = optionGiven(args, ARGUMENTS, ...SKIPPING);
  if (flag !== null) return flag;
  const mode = modeIn(args);
  return mode !== null && SKIPPING_MODES.has(mode) ? `--permission-mode ${mode}` : null;
}

/** Returns the mode of the command line, of which the option is stronger than its settings; null without any. */
function modeIn(args: readonly string[]): string | null {
  const given = valuesOf(args, ARGUMENTS, "--permission-mode").at(-1);
  // A file is read where its whole path is given; in which folder any other would be found is not known here.
  const { settings = {} } = givenSettings(args, "/") ?? {};
  return given ?? textOf(fieldsOf(settings.permissions).defaultMode);
}

function may(args: readonly string[]): string {
  const mode = modeIn(args) ?? "default";
  const isFree =
    mode === "bypassPermissions" || optionGiven(args, ARGUMENTS, "--dangerously-skip-permissions") !== null;
  if (isFree) return "edit any file and run any command without asking";
  const allowed = valuesOf(args, ARGUMENTS, "--allowedTools", "--allowed-tools").flatMap((tools) => tools.split(","));
  const tools = allowed.length === 0 ? "" : `; allowed beforehand: ${allowed.join(", ")}`;
  return `${MAY.get(mode) ?? MAY_READ}${tools}`;
}

const MAY_READ = "read files and run commands that only read; all else is refused, but for what its settings allow";

const MAY: ReadonlyMap<string, string> = new Map([
  [
    "acceptEdits",
    "read files, and change those in its folder; other commands are refused, but for what its settings allow",
  ],
  ["auto", "edit files and run commands that a check of claude's own lets pass"],
  ["plan", "read files and answer; edits and commands are refused"],
]);

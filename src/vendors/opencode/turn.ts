import { fieldsOf, textOf } from "../../util/fields.ts";
import { wordSet } from "../shared/arguments.ts";
import type { FailedTurn } from "../shared/failed-turn.ts";
import { optionGiven, turnOptions } from "../shared/turn-arguments.ts";
import { readsLines, type PrintedLine, type TurnLine } from "../shared/turn-output.ts";
import type { TurnFacet } from "../turn.ts";
import { OPENCODE_ARGUMENTS } from "./arguments.ts";

/**
 * `opencode run` reads the prompt from its stdin, and prints an event for each part of what the agent says or does. It makes a summary of
 * a long conversation in a turn of its own, which ends like any other: so an answer is one only when the program has ended. What nobody allows is refused, and ends the turn; only the stderr says so. It tries five
 * times more to get past a 429 or a 500, for a minute, or for as long as the provider says; there is no setting for less.
 */
export const opencodeTurn: TurnFacet = {
  args: (args) => ["run", "--format", "json", ...turnOptions(args, OPENCODE_ARGUMENTS, LEFT_OUT)],
  ...readsLines(readLine),
  skipsPermissions: (args) => optionGiven(args, OPENCODE_ARGUMENTS, "--auto") ?? "opencode asks nobody in its folder",
  may: (args) => (optionGiven(args, OPENCODE_ARGUMENTS, "--auto") === null ? MAY : MAY_ANYTHING),
};

const MAY =
  "edit files and run commands in its folder without asking; a turn that wants to leave that ends without an answer";
const MAY_ANYTHING = "edit any file and run any command without asking, but for what its settings deny";

/** Options of the program in a terminal that `run` does not know, or that choose what a turn prints. */
const LEFT_OUT = wordSet(
  `--format --prompt --hostname --port --mdns --mdns-domain --cors --replay-limit --no-replay --mini -i --interactive`,
);

function readLine(line: PrintedLine): TurnLine {
  const session = textOf(line.sessionID);
  const part = fieldsOf(line.part);
  const of = textOf(part.messageID) ?? "";
  const text = textOf(part.text);
  switch (line.type) {
    case "step_start":
      // What was said in an earlier step is not the answer, though nothing be said in this one.
      return { session, more: { text: "", of } };
    case "text":
      return text === null ? { session } : { session, progress: [{ kind: "text", text }], more: { text, of } };
    case "tool_use":
      return { session, progress: [{ kind: "tool", name: textOf(part.tool) ?? "tool" }] };
    case "step_finish":
      return part.reason === "stop" ? { session, ended: "unless more comes" } : { session };
    case "error":
      return { session, failed: failureIn(line) };
    default:
      return { session };
  }
}

function failureIn({ error }: PrintedLine): FailedTurn {
  const { name, data } = fieldsOf(error);
  const { message, statusCode } = fieldsOf(data);
  const status = typeof statusCode === "number" ? statusCode : null;
  const isLogin = name === "ProviderAuthError";
  return { error: isLogin ? "authentication" : null, status, words: textOf(message) ?? textOf(name) };
}

import { fieldsOf, textOf } from "../../util/fields.ts";
import { wordSet } from "../shared/arguments.ts";
import type { FailedTurn } from "../shared/failed-turn.ts";
import { optionGiven, turnOptions, valuesOf } from "../shared/turn-arguments.ts";
import { readsLines, type PrintedLine, type TurnLine } from "../shared/turn-output.ts";
import type { TurnFacet } from "../turn.ts";
import { CODEX_ARGUMENTS } from "./arguments.ts";
import { blockedByError, codexScreen } from "./screen.ts";

/**
 * Codex reads the prompt from its stdin, as words alone, and prints an event a line. It says that the turn is over up to seconds before
 * its process ends. Its tries after an error belong to the provider in its settings, and no option bounds them for whatever provider that
 * is: five of them took 7 s after a 401, and 25 s after a 500.
 */
export const codexTurn: TurnFacet = {
  args,
  ...readsLines(readLine, codexScreen.blockedExit),
  skipsPermissions,
  may,
};

const LEFT_OUT =
  wordSet(`--json -o --output-last-message --skip-git-repo-check --color -i --image --no-alt-screen --no-daemon
  -a --ask-for-approval`);

/** Without a terminal the program knows this option in front of `exec` alone. */
const SEARCH = "--search";

function args(given: readonly string[]): string[] {
  const options = turnOptions(given, CODEX_ARGUMENTS, LEFT_OUT);
  const front = options.includes(SEARCH) ? [SEARCH] : [];
  const behind = turnOptions(options, CODEX_ARGUMENTS, new Set([SEARCH]));
  return [...front, "exec", "-", "--json", "--skip-git-repo-check", ...behind];
}

function readLine(line: PrintedLine): TurnLine {
  switch (line.type) {
    case "thread.started":
      return { session: textOf(line.thread_id) };
    case "item.started":
    case "item.completed":
      return itemIn(line);
    case "error":
      return { failed: failureOf(textOf(line.message)) };
    case "turn.failed":
      return { ended: true, failed: failureOf(textOf(fieldsOf(line.error).message)) };
    case "turn.completed":
      return { ended: true };
    default:
      return {};
  }
}

/** Items that are no tools: what is said or thought, the agent's list of what to do, and warnings. */
const NO_TOOLS = wordSet("agent_message reasoning todo_list error");

/** A change of files is told when it is made; other tools when they begin. */
const TOLD_WHEN_DONE = wordSet("file_change");

function itemIn({ type: event, item }: PrintedLine): TurnLine {
  const { type, text, server, tool } = fieldsOf(item);
  const kind = textOf(type) ?? "";
  const isDone = event === "item.completed";
  if (kind === "agent_message" && isDone && typeof text === "string") {
    return { answer: text, progress: text === "" ? [] : [{ kind: "text", text }] };
  }
  if (NO_TOOLS.has(kind) || isDone !== TOLD_WHEN_DONE.has(kind)) return {};
  const name = [textOf(server), textOf(tool)].filter((word) => word !== null).join(".");
  return { progress: [{ kind: "tool", name: name || kind }] };
}

/** Codex tries again after some errors, and says so around their words. */
function failureOf(said: string | null): FailedTurn {
  const words = /^Reconnecting\.\.\. \d+\/\d+ \((.+)\)$/s.exec(said ?? "")?.[1] ?? said;
  return { words, kind: words === null ? null : blockedByError(words) };
}

const ANYTHING = "danger-full-access";
/** In the last one another model decides in a person's place. */
const SKIPPING = ["--dangerously-bypass-approvals-and-sandbox", "--yolo", "--approve-for-me"];

function skipsPermissions(given: readonly string[]): string | null {
  const flag = optionGiven(given, CODEX_ARGUMENTS, ...SKIPPING);
  if (flag !== null) return flag;
  return sandboxIn(given) === ANYTHING ? `--sandbox ${ANYTHING}` : null;
}

/** Returns the sandbox of the command line, of which the option is stronger than the setting; null without any. */
function sandboxIn(given: readonly string[]): string | null {
  const settings = valuesOf(given, CODEX_ARGUMENTS, "-c", "--config");
  const set = settings.map((setting) => /^\s*sandbox_mode\s*=\s*["']?([a-z-]+)/.exec(setting)?.[1]);
  return (
    valuesOf(given, CODEX_ARGUMENTS, "-s", "--sandbox").at(-1) ?? set.findLast((mode) => mode !== undefined) ?? null
  );
}

function may(given: readonly string[]): string {
  const flag = optionGiven(given, CODEX_ARGUMENTS, ...SKIPPING.slice(0, 2));
  const sandbox = flag === null ? sandboxIn(given) : ANYTHING;
  return MAY.get(sandbox ?? "") ?? IN_SANDBOX;
}

const IN_SANDBOX =
  "read files and run commands, in a sandbox: they write in its folder and the temporary one if its settings trust the folder, and nowhere else";

const MAY: ReadonlyMap<string, string> = new Map([
  ["read-only", "read files and run commands, in a sandbox in which they write nothing"],
  [
    "workspace-write",
    "read files and run commands, in a sandbox in which they write in its folder and the temporary one",
  ],
  [ANYTHING, "edit any file and run any command without asking"],
]);

import { PersonaRefusal, type AgentSnapshot, type AgentOutput } from "../../persona.ts";
import { plainOutput } from "../../outputs.ts";
import { printError, printJson } from "../../print.ts";
import { CLAUDE_VERSION } from "./transcripts.ts";

/** The output of a headless run in the format of `--output-format`. */
export function outputFor(format: string, verbose: boolean, permissionMode: string): AgentOutput {
  const make = FORMATS.get(format);
  if (make === undefined)
    throw new PersonaRefusal(`error: option '--output-format <format>' argument '${format}' is invalid.`);
  return make(verbose, permissionMode);
}

const FORMATS: ReadonlyMap<string, (verbose: boolean, permissionMode: string) => AgentOutput> = new Map([
  ["text", () => plainOutput],
  ["json", () => resultOutput()],
  ["stream-json", streamOutput],
]);

/** `json`: one document at the end. */
function resultOutput(): AgentOutput {
  let last = "";
  return {
    session: () => undefined,
    ready: () => undefined,
    answer: (text) => (last = text),
    notice: (text) => (last = text),
    end: (snapshot) => printJson(result(last, snapshot)),
  };
}

/** `stream-json`: one event a line, each with the session's id. */
function streamOutput(verbose: boolean, permissionMode: string): AgentOutput {
  if (!verbose) throw new PersonaRefusal("Error: When using --print, --output-format=stream-json requires --verbose");
  let last = "";
  return {
    session({ session, cwd, name, model }, changed) {
      if (name !== null && !changed) {
        printJson({ type: "system", subtype: "session_title_changed", title: name, session_id: session });
      }
      const about = { cwd, session_id: session, tools: [], mcp_servers: [], model, permissionMode };
      printJson({ type: "system", subtype: "init", ...about, claude_code_version: CLAUDE_VERSION });
    },
    ready: () => undefined,
    answer(text, { session, model }) {
      last = text;
      const message = { role: "assistant", type: "message", model, content: [{ type: "text", text }] };
      printJson({ type: "assistant", message, parent_tool_use_id: null, session_id: session });
    },
    notice: printError,
    end: (snapshot) => printJson(result(last, snapshot)),
  };
}

function result(text: string, { session }: AgentSnapshot): object {
  return { type: "result", subtype: "success", is_error: false, num_turns: 1, result: text, session_id: session };
}

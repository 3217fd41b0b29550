import { Refusal, type View, type Voice } from "../../persona.ts";
import { plainVoice } from "../../voices.ts";
import { sayAside, sayJson } from "../../write.ts";
import { VERSION } from "./transcripts.ts";

/** `--output-format`. */
export function voiceFor(format: string, verbose: boolean, permissionMode: string): Voice {
  const make = FORMATS.get(format);
  if (make === undefined)
    throw new Refusal(`error: option '--output-format <format>' argument '${format}' is invalid.`);
  return make(verbose, permissionMode);
}

const FORMATS: ReadonlyMap<string, (verbose: boolean, permissionMode: string) => Voice> = new Map([
  ["text", () => plainVoice],
  ["json", () => resultVoice()],
  ["stream-json", streamVoice],
]);

/** One document at the end. */
function resultVoice(): Voice {
  let last = "";
  return {
    session: () => undefined,
    ready: () => undefined,
    answer: (text) => (last = text),
    notice: (text) => (last = text),
    end: (view) => sayJson(result(last, view)),
  };
}

/** One event a line; every one of them names the session. */
function streamVoice(verbose: boolean, permissionMode: string): Voice {
  if (!verbose) throw new Refusal("Error: When using --print, --output-format=stream-json requires --verbose");
  let last = "";
  return {
    session({ session, cwd, name, model }, changed) {
      if (name !== null && !changed) {
        sayJson({ type: "system", subtype: "session_title_changed", title: name, session_id: session });
      }
      const about = { cwd, session_id: session, tools: [], mcp_servers: [], model, permissionMode };
      sayJson({ type: "system", subtype: "init", ...about, claude_code_version: VERSION });
    },
    ready: () => undefined,
    answer(text, { session, model }) {
      last = text;
      const message = { role: "assistant", type: "message", model, content: [{ type: "text", text }] };
      sayJson({ type: "assistant", message, parent_tool_use_id: null, session_id: session });
    },
    notice: sayAside,
    end: (view) => sayJson(result(last, view)),
  };
}

function result(text: string, { session }: View): object {
  return { type: "result", subtype: "success", is_error: false, num_turns: 1, result: text, session_id: session };
}

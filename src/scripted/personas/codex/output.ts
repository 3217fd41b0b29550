import type { AgentOutput } from "../../persona.ts";
import { print, printError, printJson } from "../../print.ts";
import { CODEX_VERSION } from "./rollouts.ts";

/** `exec`: notices on stderr, the answer on stdout. */
export const execOutput: AgentOutput = {
  session({ session, cwd, model }) {
    printError(`OpenAI Codex v${CODEX_VERSION} (scripted)\nworkdir: ${cwd}\nmodel: ${model}\nsession id: ${session}`);
  },
  ready: () => undefined,
  answer: print,
  notice: print,
  end: () => undefined,
};

/** `exec --json`: one event a line. */
export function eventOutput(): AgentOutput {
  let items = 0;
  const message = (text: string): void => {
    printJson({ type: "item.completed", item: { id: `item_${items++}`, type: "agent_message", text } });
  };
  return {
    session: ({ session }) => printJson({ type: "thread.started", thread_id: session }),
    ready: () => undefined,
    answer(text) {
      printJson({ type: "turn.started" });
      message(text);
      printJson({ type: "turn.completed", usage: { input_tokens: 1, cached_input_tokens: 0, output_tokens: 1 } });
    },
    notice: message,
    end: () => undefined,
  };
}

import type { Voice } from "../../persona.ts";
import { say, sayAside, sayJson } from "../../write.ts";
import { VERSION } from "./rollouts.ts";

/** `exec`: talk on stderr, the answer on stdout. */
export const execVoice: Voice = {
  session({ session, cwd, model }) {
    sayAside(`OpenAI Codex v${VERSION} (scripted)\nworkdir: ${cwd}\nmodel: ${model}\nsession id: ${session}`);
  },
  ready: () => undefined,
  answer: say,
  notice: say,
  end: () => undefined,
};

/** `exec --json`: one event a line. */
export function eventVoice(): Voice {
  let items = 0;
  const message = (text: string): void => {
    sayJson({ type: "item.completed", item: { id: `item_${items++}`, type: "agent_message", text } });
  };
  return {
    session: ({ session }) => sayJson({ type: "thread.started", thread_id: session }),
    ready: () => undefined,
    answer(text) {
      sayJson({ type: "turn.started" });
      message(text);
      sayJson({ type: "turn.completed", usage: { input_tokens: 1, cached_input_tokens: 0, output_tokens: 1 } });
    },
    notice: message,
    end: () => undefined,
  };
}

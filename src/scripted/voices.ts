import { VERSION } from "../protocol/version.ts";
import type { Voice } from "./persona.ts";
import { say, write } from "./write.ts";

/** For a person at a terminal: a banner, a prompt, the answers. */
export function personalVoice(layout: string): Voice {
  return {
    session(view, changed) {
      if (changed) return say(`now in session ${view.session}, history: ${view.turns} turns`);
      say(`┌ scripted ${VERSION}: a small agent without a model (layout ${layout})`);
      say(`│ session  ${view.session}${view.name === null ? "" : ` (${view.name})`}`);
      say(`│ model    ${view.model}`);
      say(`│ history: ${view.turns} turns`);
      say("└ It repeats what it remembers. /help lists its orders, Ctrl-D ends it.");
    },
    ready: () => write(1, "> "),
    answer: say,
    notice: say,
    end: () => say(""),
  };
}

/** Headless: the answers and nothing else. */
export const plainVoice: Voice = {
  session: () => undefined,
  ready: () => undefined,
  answer: say,
  notice: say,
  end: () => undefined,
};

import { VERSION } from "../protocol/version.ts";
import type { AgentOutput } from "./persona.ts";
import { print, writeAll } from "./print.ts";

/** The output for a person at a terminal: a banner, a prompt, the answers. */
export function interactiveOutput(persona: string): AgentOutput {
  return {
    session(snapshot, changed) {
      if (changed) return print(`now in session ${snapshot.session}, history: ${snapshot.turns} turns`);
      print(`┌ scripted ${VERSION}: a small agent without a model (persona ${persona})`);
      print(`│ session  ${snapshot.session}${snapshot.name === null ? "" : ` (${snapshot.name})`}`);
      print(`│ model    ${snapshot.model}`);
      print(`│ history: ${snapshot.turns} turns`);
      print("└ It repeats what it remembers. /help lists its orders, Ctrl-D ends it.");
    },
    ready: () => writeAll(1, "> "),
    answer: print,
    notice: print,
    end: () => print(""),
  };
}

/** The output of a headless run: the answers and nothing else. */
export const plainOutput: AgentOutput = {
  session: () => undefined,
  ready: () => undefined,
  answer: print,
  notice: print,
  end: () => undefined,
};

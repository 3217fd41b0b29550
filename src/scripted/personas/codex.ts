import { join } from "node:path";
import { homeDir } from "../../state/paths.ts";
import { readFlags } from "../flags.ts";
import { HELD_VARIABLE } from "../held.ts";
import { Refusal, type Launch, type Layout, type Service, type Wanted } from "../persona.ts";
import { appServer } from "./codex/app-server.ts";
import { WriterLocks } from "./codex/locks.ts";
import { Rollouts } from "./codex/rollouts.ts";
import { eventVoice, execVoice } from "./codex/voice.ts";

/** Codex, as seen with version 0.166.0. */
export const codex: Layout = {
  title: "codex",
  headless: (prompt) => ["exec", "--", prompt],

  read(argv, env): Launch | Service {
    const { values, positionals } = readFlags(argv, FLAGS, (flag, problem) => {
      return new Refusal(
        problem.startsWith("Unknown") ? `error: unexpected argument '${flag}' found` : `error: ${problem}`,
        2,
      );
    });
    const home = env.CODEX_HOME || join(homeDir(env), ".codex");
    const locks = new WriterLocks(join(home, "thread-writer-locks"), env[HELD_VARIABLE] ?? null);
    const rollouts = new Rollouts(home, locks);
    const command = positionals[0] ?? "";
    if (command === "app-server") return appServer(home, rollouts);
    const asked = command === "exec" ? positionals.slice(1) : positionals;
    const { session, prompt } = sessionOf(asked, rollouts, locks.settled);
    return {
      session,
      name: null,
      model: values.model ?? "scripted",
      prompt: prompt === "-" ? null : prompt,
      headless: command === "exec" ? (values.json ? eventVoice() : execVoice) : null,
      sessions: rollouts,
      settle: (id) => locks.settle(id),
    };
  },
};

const FLAGS = {
  "no-daemon": { type: "boolean" },
  config: { type: "string", short: "c", multiple: true },
  model: { type: "string", short: "m" },
  json: { type: "boolean" },
  // Taken and without effect here: there is no sandbox to leave and nothing to trust.
  "skip-git-repo-check": { type: "boolean" },
  "dangerously-bypass-approvals-and-sandbox": { type: "boolean" },
  "dangerously-bypass-hook-trust": { type: "boolean" },
} as const;

/** `[PROMPT]`, or `resume ID [PROMPT]`. A name that nobody has begins a new conversation, without a word about it. */
function sessionOf(
  words: string[],
  rollouts: Rollouts,
  settled: string | null,
): { session: Wanted; prompt: string | null } {
  const [first, id, last] = words;
  const resumed = first === "resume";
  const prompt = (resumed ? last : first) ?? null;
  if (resumed && id === undefined) throw new Refusal("error: resume: no session was given", 2);
  const known = settled === null && resumed && id !== undefined ? rollouts.resolve(id) : null;
  if (known !== null) return { session: { kind: "resume", id: known }, prompt };
  // Exec'd again, it goes on with what it took: that has a file, or it does not yet.
  if (settled !== null && rollouts.find(settled) !== null) return { session: { kind: "resume", id: settled }, prompt };
  return { session: { kind: "new", id: settled }, prompt };
}

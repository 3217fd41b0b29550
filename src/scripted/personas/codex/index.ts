import { join } from "node:path";
import { homeDir } from "../../../state/paths.ts";
import { readFlags } from "../../flags.ts";
import {
  REEXEC_VARIABLE,
  PersonaRefusal,
  type ScriptedLaunch,
  type Persona,
  type StdinServer,
  type SessionChoice,
} from "../../persona.ts";
import { appServer } from "./app-server.ts";
import { WriterLocks } from "./locks.ts";
import { Rollouts } from "./rollouts.ts";
import { eventOutput, execOutput } from "./output.ts";
import { isUuid } from "../../uuid.ts";

/** Codex, as seen with version 0.166.0. */
export const codexPersona: Persona = {
  name: "codex",
  title: "codex",
  headless: (prompt) => ["exec", "--", prompt],

  read(argv, env): ScriptedLaunch | StdinServer {
    const { values, positionals } = readFlags(argv, FLAGS, (flag, problem) => {
      return new PersonaRefusal(
        problem.startsWith("Unknown") ? `error: unexpected argument '${flag}' found` : `error: ${problem}`,
        2,
      );
    });
    const home = env.CODEX_HOME || join(homeDir(env), ".codex");
    const locks = new WriterLocks(join(home, "thread-writer-locks"), env[REEXEC_VARIABLE] ?? null);
    const rollouts = new Rollouts(home, locks);
    const command = positionals[0] ?? "";
    if (command === "app-server") return appServer(home, rollouts);
    const asked = command === "exec" ? positionals.slice(1) : positionals;
    const words = values.last ? withNewest(asked, rollouts) : asked;
    const { session, prompt } = sessionOf(words, rollouts, locks.lockedSession);
    return {
      session,
      name: null,
      model: values.model ?? "scripted",
      prompt: prompt === "-" ? null : prompt,
      headless: command === "exec" ? (values.json ? eventOutput() : execOutput) : null,
      conversations: rollouts,
      beforeStart: (id) => locks.execUnderLock(id),
    };
  },
};

const FLAGS = {
  "no-daemon": { type: "boolean" },
  config: { type: "string", short: "c", multiple: true },
  model: { type: "string", short: "m" },
  json: { type: "boolean" },
  last: { type: "boolean" },
  // Taken and without effect here: there is no sandbox to leave and nothing to trust.
  "skip-git-repo-check": { type: "boolean" },
  "dangerously-bypass-approvals-and-sandbox": { type: "boolean" },
  "dangerously-bypass-hook-trust": { type: "boolean" },
} as const;

/** `exec resume --last` takes the newest conversation, even with an id beside it. */
function withNewest([first = "", id, ...rest]: string[], rollouts: Rollouts): string[] {
  const newest = first === "resume" ? rollouts.newest() : null;
  if (newest === null) return [first, ...(id === undefined ? [] : [id]), ...rest];
  return [first, newest, ...(id === undefined || isUuid(id) ? [] : [id]), ...rest];
}

/** `[PROMPT]`, or `resume ID [PROMPT]`. A name that nobody has begins a new conversation, without a word about it. */
function sessionOf(
  words: string[],
  rollouts: Rollouts,
  locked: string | null,
): { session: SessionChoice; prompt: string | null } {
  const [first, id, last] = words;
  const resumed = first === "resume";
  const prompt = (resumed ? last : first) ?? null;
  if (resumed && id === undefined) throw new PersonaRefusal("error: resume: no session was given", 2);
  const known = locked === null && resumed && id !== undefined ? rollouts.resolve(id) : null;
  if (known !== null) return { session: { kind: "resume", id: known }, prompt };
  // Exec'd again, it goes on with what it took: that has a file, or it does not yet.
  if (locked !== null && rollouts.find(locked) !== null) return { session: { kind: "resume", id: locked }, prompt };
  return { session: { kind: "new", id: locked }, prompt };
}

import { homeDir } from "../../state/paths.ts";
import type { Environment } from "../../util/environment.ts";
import type { Adapter, ConfigDir } from "../adapter.ts";
import type { LaunchPlan, PlanRequest } from "../launch-plan.ts";
import { takesIdAndPrompt } from "../shared/identity.ts";

/**
 * A custom program is any program with a declared way to begin a conversation under an id and to resume it. Nobody knows
 * where it keeps its conversations, so nothing is proved and nothing copied; the id is ours, and the program must refuse
 * an id that it does not have.
 */
export const custom: Adapter = {
  vendor: "custom",
  command: [],
  tested: [],
  unproved: "only its own program knows whether it resumed",
  launch: {
    readArgs: () => ({ converses: true, headless: false, conflict: null }),
    plan,
    ...takesIdAndPrompt,
    forks: false,
  },
  storage: {
    configDirOf,
    probe: async () => ({ state: "unseen" }),
    list: async () => [],
    noCopyReason: "only its own program knows where it keeps them",
  },
  liveness: {
    watchDir: () => null,
    inspect: () => [],
    holders: () => [],
  },
};

function configDirOf(env: Environment): ConfigDir {
  const home = homeDir(env);
  return { dir: home, variables: { HOME: home } };
}

/**
 * Puts the declared words before the user's. A word with a place for the first prompt is left out where there is no
 * prompt.
 */
function plan({ step, session, name, args, prompt: said, declared }: PlanRequest): LaunchPlan {
  const words = (step === "resume" ? declared?.resume : declared?.new) ?? [];
  const prompt = step === "new" ? said : null;
  const declaredWords = prompt === null ? words.filter((word) => !word.includes("{prompt}")) : words;
  return {
    args: [...declaredWords.map((word) => filled(word, { id: session, name, prompt: prompt ?? "" })), ...args],
    files: [],
  };
}

function filled(word: string, values: Readonly<Record<string, string>>): string {
  return word.replaceAll(/\{(id|name|prompt)\}/g, (_, key: string) => values[key] ?? "");
}

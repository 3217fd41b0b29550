import { checkName, parseAddress } from "../protocol/names.ts";
import type { Settings } from "./config/read.ts";

/** The rule that gave the answer. */
type Source =
  | "flag"
  | "environment"
  | "environment:PI_INTERCOM_SESSION_NAME"
  | "project-config"
  | "user-config"
  | "session"
  | "nested"
  | "fallback";

export interface Identity {
  address: string;
  project: string;
  name: string;
  source: Source;
  durable: boolean;
  run: string | null;
  generation: number | null;
  /** Whether the run was taken over: the name is no longer its own. */
  displaced: boolean;
  /** The worker whose environment a nested agent inherited; null otherwise. */
  supervisor: string | null;
}

export interface WhoamiInputs {
  as: string | null;
  env: Readonly<Record<string, string | undefined>>;
  /** Whether the caller is an agent that the run's own agent started; called only inside a run. */
  nested: () => boolean;
  /** Returns what the daemon has left in the run's folder of its worker since the start; called only inside a run. */
  sinceStart: () => SinceStart;
  /** Returns the slug of the caller's folder; called only if no variable names the project. */
  projectHere: () => string;
  projectConfig: () => Settings;
  userConfig: () => Settings;
  /** Returns the name that the user gave to the surrounding conversation, where the vendor stores one. */
  conversationName: () => string | null;
  /** Returns letters, digits and `-` that stay the same for one process tree and differ from those of every other live one. */
  fingerprint: () => string;
}

/** The facts that a process cannot learn from its environment, which was made when the run began. */
export interface SinceStart {
  /** The address of a worker that was renamed; null for one that was not. */
  address: string | null;
  displaced: boolean;
}

/** Applies five rules, of which the first match wins; a name that is set but not legal is an error, not a miss. */
export function whoami(inputs: WhoamiInputs): Identity {
  const { env } = inputs;
  if (inputs.as !== null) return named(inputs, inputs.as, "flag");
  if (env.PERDURE_NAME) {
    const worker = named(inputs, env.PERDURE_NAME, "environment");
    return env.PERDURE_RUN && inputs.nested() ? alias(inputs, "nested", worker) : worker;
  }
  if (env.PI_INTERCOM_SESSION_NAME) {
    return named(inputs, env.PI_INTERCOM_SESSION_NAME, "environment:PI_INTERCOM_SESSION_NAME");
  }
  const fromProject = inputs.projectConfig().name;
  if (fromProject) return named(inputs, fromProject, "project-config");
  const fromUser = inputs.userConfig().name;
  if (fromUser) return named(inputs, fromUser, "user-config");
  const fromConversation = inputs.conversationName();
  if (fromConversation) return named(inputs, fromConversation, "session");
  return alias(inputs, "fallback", null);
}

function named(inputs: WhoamiInputs, raw: string, source: Source): Identity {
  const isOwnRun = source === "environment" && Boolean(inputs.env.PERDURE_RUN);
  const { address: renamed, displaced } = isOwnRun ? inputs.sinceStart() : { address: null, displaced: false };
  const { project, name } = parseAddress(renamed ?? `${projectOf(inputs)}/${checkName(raw)}`);
  return {
    address: `${project}/${name}`,
    project: project ?? projectOf(inputs),
    name,
    source,
    durable: true,
    run: isOwnRun ? (inputs.env.PERDURE_RUN ?? null) : null,
    generation: isOwnRun ? generationOf(inputs.env.PERDURE_GENERATION) : null,
    displaced,
    supervisor: null,
  };
}

/** Makes an alias with a `~`, which no legal name contains: it can neither block a name nor be mistaken for one, and has no mail. */
function alias(inputs: WhoamiInputs, source: "nested" | "fallback", parent: Identity | null): Identity {
  const project = parent?.project ?? projectOf(inputs);
  const name = `${parent?.name ?? "anon"}~${inputs.fingerprint()}`;
  const address = `${project}/${name}`;
  return {
    address,
    project,
    name,
    source,
    durable: false,
    run: null,
    generation: null,
    displaced: false,
    supervisor: parent?.address ?? null,
  };
}

function projectOf({ env, projectHere }: WhoamiInputs): string {
  return env.PERDURE_PROJECT ? checkName(env.PERDURE_PROJECT, "project") : projectHere();
}

function generationOf(text: string | undefined): number | null {
  return text !== undefined && /^[0-9]{1,15}$/.test(text) ? Number(text) : null;
}

import { checkName } from "../protocol/names.ts";
import type { Settings } from "./config/read.ts";

/** Which of the five rules answered. */
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
  /** For a nested agent: the worker whose environment it inherited. */
  supervisor: string | null;
}

export interface WhoamiInputs {
  as: string | null;
  env: Readonly<Record<string, string | undefined>>;
  /** Whether the caller is an agent that the run's own agent started. Asked only inside a run. */
  nested: () => boolean;
  /** The slug of the folder the caller stands in. Asked only if no variable names the project. */
  projectHere: () => string;
  projectConfig: () => Settings;
  userConfig: () => Settings;
  /** The name the vendor's own session carries, where the vendor reports one. */
  sessionName: () => string | null;
  /** Letters, digits and `-` that stay the same for one process tree and differ for every other alive. */
  fingerprint: () => string;
}

/** Five rules, the first that matches wins; a name that is set but not legal is an error, not a miss. */
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
  const fromSession = inputs.sessionName();
  if (fromSession) return named(inputs, fromSession, "session");
  return alias(inputs, "fallback", null);
}

function named(inputs: WhoamiInputs, raw: string, source: Source): Identity {
  const name = checkName(raw);
  const project = projectOf(inputs);
  const ours = source === "environment" && inputs.env.PERDURE_RUN;
  return {
    address: `${project}/${name}`,
    project,
    name,
    source,
    durable: true,
    run: ours ? (inputs.env.PERDURE_RUN ?? null) : null,
    generation: ours ? generationOf(inputs.env.PERDURE_GENERATION) : null,
    supervisor: null,
  };
}

/** `~` is in no legal name: an alias can neither block a name nor be taken for one, and has no mail. */
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
    supervisor: parent?.address ?? null,
  };
}

function projectOf({ env, projectHere }: WhoamiInputs): string {
  return env.PERDURE_PROJECT ? checkName(env.PERDURE_PROJECT, "project") : projectHere();
}

function generationOf(text: string | undefined): number | null {
  return text !== undefined && /^[0-9]{1,15}$/.test(text) ? Number(text) : null;
}

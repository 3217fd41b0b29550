import { checkName, parseAddress } from "../protocol/names.ts";
import { canBeRunOf } from "../protocol/run-id.ts";
import { variableOf, type Environment } from "../util/environment.ts";
import type { Settings } from "./config/read.ts";

/** The rule that pins a name: a variable of a launcher, or a configuration file. */
type PinSource =
  | "environment"
  | "environment:PI_INTERCOM_SESSION_NAME"
  | "environment:PI_INTERCOM_STABLE_ID"
  | "project-config"
  | "user-config";

/** The rule that gave the answer. */
type Source = PinSource | "flag" | "session" | "nested" | "fallback";

/** A name that a launcher or a configuration gives to every process here, before anybody looks at a conversation. */
export interface Pin {
  name: string;
  /** The project that goes with the name; null for the caller's own. */
  project: string | null;
  source: PinSource;
}

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
  /** The worker whose environment a nested agent inherited, or in whose run another name is pinned; null otherwise. */
  supervisor: string | null;
  /**
   * Whom the daemon takes the caller for: a pinned name alone, without its run's token, is the operator's, and in the run of another
   * worker that worker's.
   */
  actor: ActingAs;
}

type ActingAs = "worker" | "nested" | "operator";

export interface PinInputs {
  env: Environment;
  projectConfig: () => Settings;
  userConfig: () => Settings;
}

export interface WhoamiInputs extends PinInputs {
  as: string | null;
  /** Whether the caller has the token of a run that the daemon of its state folder has started. */
  hasToken: boolean;
  /** Whether the caller is an agent that the run's own agent started; called only inside a run. */
  nested: () => boolean;
  /** Returns what the daemon has left in the run's folder of its worker since the start; called only inside a run. */
  sinceStart: () => SinceStart;
  /** Returns the slug of the caller's folder; called only if no variable names the project. */
  projectHere: () => string;
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
  if (inputs.as !== null) return named(inputs, { name: checkName(inputs.as), project: null }, "flag");
  const pin = pinOf(inputs);
  if (pin?.source === "environment" && isInRun(inputs)) return inRun(inputs, pin);
  if (pin !== null) return named(inputs, pin, pin.source);
  const fromConversation = inputs.conversationName();
  if (fromConversation) return named(inputs, { name: checkName(fromConversation), project: null }, "session");
  return alias(inputs, "fallback", null);
}

/** Returns the name that the environment or a configuration pins; null if none does. Asks nobody and stays the same for a process. */
export function pinOf({ env, projectConfig, userConfig }: PinInputs): Pin | null {
  const own = variableOf(env, "PERDURE_NAME");
  if (own !== null) return { name: checkName(own, "name (PERDURE_NAME)"), project: null, source: "environment" };
  return ofIntercom(env) ?? ofConfig(projectConfig(), "project-config") ?? ofConfig(userConfig(), "user-config");
}

/** Reads the variables of pi-intercom, whose stable id may be the address that perdure gives to its workers. */
function ofIntercom(env: Environment): Pin | null {
  const sessionName = variableOf(env, "PI_INTERCOM_SESSION_NAME");
  if (sessionName !== null) {
    const name = checkName(sessionName, "name (PI_INTERCOM_SESSION_NAME)");
    return { name, project: null, source: "environment:PI_INTERCOM_SESSION_NAME" };
  }
  const id = variableOf(env, "PI_INTERCOM_STABLE_ID");
  if (id === null) return null;
  const slash = id.indexOf("/");
  return {
    name: checkName(id.slice(slash + 1), "name (PI_INTERCOM_STABLE_ID)"),
    project: slash < 0 ? null : checkName(id.slice(0, slash), "project (PI_INTERCOM_STABLE_ID)"),
    source: "environment:PI_INTERCOM_STABLE_ID",
  };
}

function ofConfig({ name }: Settings, source: PinSource): Pin | null {
  return name ? { name: checkName(name), project: null, source } : null;
}

function isInRun({ env }: WhoamiInputs): boolean {
  return variableOf(env, "PERDURE_RUN") !== null;
}

function inRun(inputs: WhoamiInputs, pin: Pin): Identity {
  const { env } = inputs;
  const { address, displaced } = inputs.sinceStart();
  const run = variableOf(env, "PERDURE_RUN") ?? "";
  const pinned = named(inputs, pin, "environment");
  // A launcher inside the run has set another name than the run's own, for what it starts. A run's id stands for its worker.
  if (!canBeRunOf(run, pinned.project, pinned.name)) return { ...pinned, supervisor: address ?? run };
  const worker = address === null ? pinned : named(inputs, parseAddress(address), "environment");
  if (inputs.nested()) return alias(inputs, "nested", worker);
  const generation = generationOf(env.PERDURE_GENERATION);
  return { ...worker, run, generation, displaced };
}

function named(inputs: WhoamiInputs, pin: Pick<Pin, "name" | "project">, source: Source): Identity {
  const project = pin.project ?? projectOf(inputs);
  return {
    address: `${project}/${pin.name}`,
    project,
    name: pin.name,
    source,
    durable: true,
    run: null,
    generation: null,
    displaced: false,
    supervisor: null,
    actor: actorOf(inputs),
  };
}

function actorOf(inputs: WhoamiInputs): ActingAs {
  if (!inputs.hasToken) return "operator";
  return isInRun(inputs) && inputs.nested() ? "nested" : "worker";
}

/** Makes an alias with a `~`, which no legal name contains: it can neither block a name nor be mistaken for one, and has no mail. */
function alias(inputs: WhoamiInputs, source: "nested" | "fallback", parent: Identity | null): Identity {
  const project = parent?.project ?? projectOf(inputs);
  const name = `${parent?.name ?? "anon"}~${inputs.fingerprint()}`;
  return { ...named(inputs, { project, name }, source), durable: false, supervisor: parent?.address ?? null };
}

function projectOf({ env, projectHere }: WhoamiInputs): string {
  const project = variableOf(env, "PERDURE_PROJECT");
  return project === null ? projectHere() : checkName(project, "project (PERDURE_PROJECT)");
}

function generationOf(text: string | undefined): number | null {
  return text !== undefined && /^[0-9]{1,15}$/.test(text) ? Number(text) : null;
}

import type { Variables } from "../protocol/records/conversation.ts";
import { dirname } from "node:path";
import type { ClaimGrant } from "../protocol/records/launch.ts";
import { stateFolder } from "../state/paths.ts";
import { variableOf, type Environment } from "../util/environment.ts";
import { attributesOfRun, RESOURCE_ATTRIBUTES, withoutRunAttributes } from "./resource-attributes.ts";

/** The variables that identify a worker. Inherited ones belong to an outer run and are always replaced. */
export const IDENTITY_VARIABLES = new Set([
  "PERDURE_PROJECT",
  "PERDURE_NAME",
  "PERDURE_RUN",
  "PERDURE_GENERATION",
  "PERDURE_SOCKET",
  "PERDURE_TOKEN",
  "PERDURE_SIGIGN",
  "PERDURE_NOFILE",
  "PERDURE_PREDECESSOR_CONTEXT",
  "PERDURE_ERROR_FD",
  "AI_AGENT_ID",
  "PI_INTERCOM_STABLE_ID",
  "PI_INTERCOM_SESSION_NAME",
  // An outer daemon's session; a worker is none of its sessions, and its children would speak for it.
  "GSD_SESSION_ID",
]);

/** Returns the environment without the identity of any worker. */
export function workerlessEnvironment(env: Environment): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !IDENTITY_VARIABLES.has(entry[0]),
  );
  return withoutRunAttributes(Object.fromEntries(kept));
}

/** Returns the environment of a run: it leads every command of its agent to the daemon that has granted the name. */
export function workerEnvironment(env: Environment, grant: ClaimGrant): Record<string, string> {
  const folder = dirname(dirname(grant.runDir));
  return {
    ...workerlessEnvironment(env),
    // What is recorded for later starts has no variables of ours; without this one, the agent would look in the usual folder.
    ...(stateFolder(env) !== folder && { PERDURE_HOME: folder }),
    PERDURE_PROJECT: grant.project,
    PERDURE_NAME: grant.name,
    PERDURE_RUN: grant.run,
    PERDURE_GENERATION: String(grant.generation),
    PERDURE_SOCKET: grant.socket,
    PERDURE_TOKEN: grant.token,
    [RESOURCE_ATTRIBUTES]: attributesOfRun(env[RESOURCE_ATTRIBUTES], grant),
    AI_AGENT_ID: grant.run,
    PI_INTERCOM_STABLE_ID: grant.address,
    PI_INTERCOM_SESSION_NAME: grant.name,
    ...intercomScope(env, grant),
  };
}

/** The scope in which sessions of pi-intercom see each other: the user's own variable wins over `[pi] scope`; by default there is none. */
function intercomScope(env: Environment, { intercomScope: scope }: ClaimGrant): Record<string, string> {
  const isOurs = scope != null && variableOf(env, "PI_INTERCOM_SCOPE_ID") === null;
  return isOurs ? { PI_INTERCOM_SCOPE_ID: scope } : {};
}

/** Returns the environment with these variables set, and without those that are null. */
export function withVariables(env: Readonly<Record<string, string>>, variables: Variables): Record<string, string> {
  const changed = new Map(Object.entries(env));
  for (const [name, value] of Object.entries(variables)) {
    if (value === null) changed.delete(name);
    else changed.set(name, value);
  }
  return Object.fromEntries(changed);
}

import type { Variables } from "../protocol/records/conversation.ts";
import type { ClaimGrant } from "../protocol/records/launch.ts";
import type { Environment } from "../util/environment.ts";
import { isVendorVariable } from "../vendors/recorded-variables.ts";

/** The variables that any program needs to find itself, its user and its proxies; a vendor's own are in its program.ts. */
const RECORDED = [
  /^(PATH|HOME|USER|LOGNAME|SHELL|TZ|LANG|LANGUAGE|TERM|COLORTERM|EDITOR|VISUAL|PAGER|TMPDIR)$/,
  /^LC_[A-Z]+$/,
  /^XDG_[A-Z]+_(HOME|DIR|DIRS)$/,
  /^(SSH_AUTH_SOCK|GIT_(SSH|SSH_COMMAND|AUTHOR_[A-Z]+|COMMITTER_[A-Z]+)|DISPLAY|WAYLAND_DISPLAY|DBUS_SESSION_BUS_ADDRESS)$/,
  /^(https?|all|no|ftp)_proxy$/i,
  /^(NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|REQUESTS_CA_BUNDLE)$/,
];

export function recordedEnvironment(env: Environment, alsoNames: readonly string[]): Record<string, string> {
  const also = new Set(alsoNames);
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && (also.has(entry[0]) || isRecorded(entry[0])),
  );
  return Object.fromEntries(kept.filter(([name]) => !IDENTITY_VARIABLES.has(name)));
}

function isRecorded(name: string): boolean {
  return RECORDED.some((pattern) => pattern.test(name)) || isVendorVariable(name);
}

/** The variables that identify a worker. Inherited ones belong to an outer run and are always replaced. */
const IDENTITY_VARIABLES = new Set([
  "PERDURE_PROJECT",
  "PERDURE_NAME",
  "PERDURE_RUN",
  "PERDURE_GENERATION",
  "PERDURE_SOCKET",
  "PERDURE_TOKEN",
  "PERDURE_SIGIGN",
  "PERDURE_NOFILE",
  "PERDURE_PREDECESSOR_CONTEXT",
  "AI_AGENT_ID",
  "PI_INTERCOM_STABLE_ID",
  "PI_INTERCOM_SESSION_NAME",
  "PI_INTERCOM_SCOPE_ID",
]);

/** Returns the environment without the identity of any worker. */
export function workerlessEnvironment(env: Environment): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !IDENTITY_VARIABLES.has(entry[0]),
  );
  return Object.fromEntries(kept);
}

export function workerEnvironment(env: Environment, grant: ClaimGrant): Record<string, string> {
  return {
    ...workerlessEnvironment(env),
    PERDURE_PROJECT: grant.project,
    PERDURE_NAME: grant.name,
    PERDURE_RUN: grant.run,
    PERDURE_GENERATION: String(grant.generation),
    PERDURE_SOCKET: grant.socket,
    PERDURE_TOKEN: grant.token,
    AI_AGENT_ID: grant.run,
    PI_INTERCOM_STABLE_ID: grant.address,
    PI_INTERCOM_SESSION_NAME: grant.name,
    PI_INTERCOM_SCOPE_ID: grant.project,
  };
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

import type { Variables } from "../protocol/records/conversation.ts";
import type { Environment } from "../util/environment.ts";
import { ADAPTERS } from "./index.ts";

// What the adapters say about variables, taken together: a worker of one vendor may be started from inside another one's.

/** Endings that give away, whoever's variable it is, that it speaks of one process or one session. */
const SESSION_ENDINGS = /_(PID|SESSION_ID|SESSION_NAME|THREAD_ID|TOOL_CALL_ID|MESSAGING_SOCKET|MESSAGING_TOKEN)$/;

const ENVIRONMENTS = ADAPTERS.map(({ launch }) => launch.environment);
const RECORDED = ENVIRONMENTS.flatMap(({ recorded }) => recorded);
const SESSION = [SESSION_ENDINGS, ...ENVIRONMENTS.flatMap(({ session = [] }) => session)];

/**
 * Some vendor's program needs the variable at every start. One of a single session would, recorded, speak of a gone
 * one.
 */
export function isVendorVariable(name: string): boolean {
  const isMatched = (pattern: RegExp): boolean => pattern.test(name);
  return RECORDED.some(isMatched) && !SESSION.some(isMatched);
}

/** The changes to an environment by which a worker inherits nothing that is private to the agent that started it. */
export function withoutPrivateEnv(env: Environment): Variables {
  const unset = ENVIRONMENTS.flatMap(({ privateNames }) => privateNames.map((name) => [name, null] as const));
  const restored = ADAPTERS.map(({ launch }) => launch.restoredEnv?.(env) ?? {});
  return Object.assign(Object.fromEntries(unset), ...restored) as Variables;
}

import { VENDOR_PROGRAMS } from "./programs.ts";
import { scriptedProgram } from "./scripted/program.ts";

/** The variables of all vendors' programs: a worker of one may be started from inside another one's. */
const ENVIRONMENTS = [...VENDOR_PROGRAMS, scriptedProgram].map(({ environment }) => environment);

/** Endings that give away, whoever's variable it is, that it speaks of one process or one session. */
const SESSION_ENDINGS = /_(PID|SESSION_ID|SESSION_NAME|THREAD_ID|TOOL_CALL_ID|MESSAGING_SOCKET|MESSAGING_TOKEN)$/;

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

/** The variable is one of a vendor's, and speaks of one process or one session of its program. */
export function isOfOneSession(name: string): boolean {
  const isMatched = (pattern: RegExp): boolean => pattern.test(name);
  return PRIVATE_NAMES.includes(name) || (RECORDED.some(isMatched) && SESSION.some(isMatched));
}

/** The variables that are private to the agent from inside which a worker may be started. */
export const PRIVATE_NAMES: readonly string[] = ENVIRONMENTS.flatMap(({ privateNames }) => privateNames);

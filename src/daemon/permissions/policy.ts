import { POLICY_CACHE_MS } from "../../limits/index.ts";
import type { CallName } from "../../protocol/calls/index.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import { readSettingsAt } from "../../project/config/read.ts";
import { isErrno } from "../../state/files.ts";

/**
 * What `[policy] agents_may` calls each of the calls it can take away from a project's agents. Acknowledging has no word of its
 * own: it only concerns what was handed out, by `receive` or as the answer to an `ask`.
 */
const WORDS: Readonly<Partial<Record<CallName, string>>> = {
  send: "send",
  ask: "ask",
  reply: "reply",
  receive: "inbox",
  inbox: "inbox",
  pending: "inbox",
};

type Allowed = ReadonlySet<string> | "all";

const read = new Map<string, { allowed: Allowed; untilMs: number }>();

/**
 * The word that the project's file leaves out; null when the call is allowed. A file can only take away: repositories come
 * from strangers, and what they would grant is not granted.
 */
export function forbiddenBy(root: string, call: CallName, nowMs: number): string | null {
  const word = WORDS[call];
  if (word === undefined) return null;
  const known = read.get(root);
  // A file with a mistake takes away what it took away before.
  const allowed = (): Allowed => allowedIn(root) ?? known?.allowed ?? "all";
  const rule = known && known.untilMs > nowMs ? known : { allowed: allowed(), untilMs: nowMs + POLICY_CACHE_MS };
  read.set(root, rule);
  return rule.allowed === "all" || rule.allowed.has(word) ? null : word;
}

/** Null for a file that cannot be read: whoever uses it is told what is wrong with it. */
function allowedIn(root: string): Allowed | null {
  try {
    const words = readSettingsAt(root)?.policy?.agents_may;
    return words === undefined ? "all" : new Set(words);
  } catch (error) {
    if (isPerdureError(error) || isErrno(error, "ENOENT", "ENOTDIR", "EACCES")) return null;
    throw error;
  }
}
